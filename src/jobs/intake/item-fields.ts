/** The field that holds the item in a line of NDJSON. */
export const ITEM_FIELDS = { email: "email", identity: "value", phone: "phone" } as const;
