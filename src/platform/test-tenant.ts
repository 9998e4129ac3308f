// What is done with a test key is done for a tenant of its own beside the account: it shares no list, limit, reply or unit.

const PREFIX = "test:";
const COLON = 0x3a;

/** Returns the tenant that the test keys of an account act for. */
export function testTenantOf(accountId: string): string {
  return PREFIX + accountId;
}

/** Returns whether a tenant is that of test keys. No account's id has a colon there, which is looked at in no time. */
export function isTestTenant(tenant: string): boolean {
  return tenant.charCodeAt(PREFIX.length - 1) === COLON && tenant.startsWith(PREFIX);
}

/** Returns the account that a tenant belongs to: itself, unless it is that of test keys. */
export function ownerOf(tenant: string): string {
  return isTestTenant(tenant) ? tenant.slice(PREFIX.length) : tenant;
}
