/**
 * Deliveries that one transaction gives up or removes at most. A webhook may have a million of them: all at once they would
 * hold up other calls, and on a shared database take longer than a transaction may.
 */
export const DELIVERIES_AT_ONCE_MAX = 500;
