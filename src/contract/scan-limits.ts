/** Addresses that one scan asks: those that the caller names, and those that it finds beside them. */
export const SCAN_RESOURCES_MAX = 5;
/** How long the result of a scan answers for its origin. */
export const REPORT_VALID_MS = 24 * 3_600_000;
