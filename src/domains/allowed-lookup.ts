import type { CachedLookup, DnsCache } from "../dns/cache.ts";
import type { RecordType } from "../dns/lookup.ts";
import { NOT_ALLOWED, type QueryAllowance } from "../dns/query-allowance.ts";

/** A query allowance with shares of others, who return what they do not need. */
export type SharedAllowance = {
  readonly allowance: QueryAllowance;
  /** Settles when the others have returned the rest of their shares. */
  readonly returned: Promise<unknown>;
};

/** Looks a name up; where the allowance is used up, waits until the others have returned theirs. */
export async function lookUpWithin<T extends RecordType>(
  cache: DnsCache,
  name: string,
  type: T,
  { allowance, returned }: SharedAllowance,
): Promise<CachedLookup<T>> {
  const lookup = await cache.lookUp(name, type, allowance);
  if (lookup.detail !== NOT_ALLOWED) return lookup;
  await returned;
  return cache.lookUp(name, type, allowance);
}
