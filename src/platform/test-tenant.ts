// Test keys act for a tenant of their own beside the account, with which they share no list, limit, reply or unit.

const PREFIX = "test:";
const COLON = 0x3a;

/** Returns the tenant of an account's test keys. */
export function testTenantOf(accountId: string): string {
  return PREFIX + accountId;
}

/** Returns whether a tenant is one of test keys, by a colon that ids of accounts do not have. */
export function isTestTenant(tenant: string): boolean {
  return tenant.charCodeAt(PREFIX.length - 1) === COLON && tenant.startsWith(PREFIX);
}

/** Returns the account of a tenant: itself, unless it is one of test keys. */
export function ownerOf(tenant: string): string {
  return isTestTenant(tenant) ? tenant.slice(PREFIX.length) : tenant;
}
