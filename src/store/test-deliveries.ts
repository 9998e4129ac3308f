/** The type of an event that its caller asks for, to see it arrive. */
export const TEST_EVENT = "webhook.test";

/**
 * Test events that a webhook keeps among its last deliveries, the newest: any number may be asked for, and each would take
 * some kB for 30 days.
 */
export const TEST_DELIVERIES_MAX = 100;

/**
 * The last deliveries of a webhook that are looked through for those of which it keeps the newest alone: those behind them
 * are too few to count.
 */
export const LAST_DELIVERIES = 1_000;
