/** The folder of a data directory for the bodies of kept replies. Every start makes it, after the tables. */
export const REPLY_FOLDER = "idempotency";

/** The folder of a data directory for the parts of uploads. */
export const PART_FOLDER = "jobs";
