/** Test events that a webhook keeps, the newest: any number may be asked for, and each would take some kB for 30 days. */
export const TEST_DELIVERIES_MAX = 100;
