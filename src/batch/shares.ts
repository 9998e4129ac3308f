/** A capacity that tenants share, such as places or bytes. */
export type Shares = {
  /** Acquires an amount for a tenant; false where the capacity is used up and the tenant is at its share. */
  readonly acquire: (tenant: string, amount: number) => boolean;
  /** Counts an amount that exists already, whatever the share. */
  readonly hold: (tenant: string, amount: number) => void;
  /** Releases an amount. */
  readonly release: (tenant: string, amount: number) => void;
  /** Whether `acquire` would succeed. */
  readonly fits: (tenant: string, amount: number) => boolean;
  /** True for a tenant that holds more than an equal share of the capacity. */
  readonly isOverShare: (tenant: string) => boolean;
  readonly held: () => number;
  readonly heldBy: (tenant: string) => number;
};

export type SharesOptions = {
  /** One tenant alone may hold all of it. */
  readonly capacity: number;
  /** The amount that a tenant may hold even if others hold everything. */
  readonly guaranteed: number;
  /** Only tenants that hold at most this amount may use the last quarter of the overflow; all of `guaranteed` unless given. */
  readonly guaranteedFirst?: number;
  /** The total that all may hold, as a multiple of the capacity, while early tenants keep their amounts. */
  readonly overflow: number;
};

/**
 * Divides a capacity among tenants. While some of it is free, anyone may take it. Once it is used up, a tenant below its
 * equal share, or below the guaranteed amount, may use the overflow, so that early tenants do not starve it; a tenant at
 * its share is refused until others release. The last part of the overflow is for tenants that hold next to nothing, so
 * that many of them do not starve the next. Every operation takes constant time.
 */
export function createShares({
  capacity,
  guaranteed,
  guaranteedFirst = guaranteed,
  overflow,
}: SharesOptions): Shares {
  const overflowMax = capacity * overflow;
  /** The rest of the overflow is for what is guaranteed: each who comes takes a share of those who are there. */
  const sharesMax = capacity * Math.min(2, (1 + overflow) / 2);
  const guaranteedMax = guaranteedFirst < guaranteed ? (sharesMax + overflowMax) / 2 : overflowMax;
  const heldByTenant = new Map<string, number>();
  let held = 0;

  function fits(tenant: string, amount: number): boolean {
    if (held + amount <= capacity) return true;
    const before = heldByTenant.get(tenant) ?? 0;
    const tenants = heldByTenant.size + (before === 0 ? 1 : 0);
    const share = Math.max(guaranteed, capacity / tenants);
    if (tenants === 1 || before + amount > share) return false;
    if (before + amount <= guaranteedFirst) return held + amount <= overflowMax;
    return held + amount <= (before + amount <= guaranteed ? guaranteedMax : sharesMax);
  }

  function hold(tenant: string, amount: number): void {
    held += amount;
    heldByTenant.set(tenant, (heldByTenant.get(tenant) ?? 0) + amount);
  }

  return {
    acquire(tenant, amount) {
      if (!fits(tenant, amount)) return false;
      hold(tenant, amount);
      return true;
    },
    hold,
    release(tenant, amount) {
      held -= amount;
      const left = (heldByTenant.get(tenant) ?? 0) - amount;
      if (left > 0) heldByTenant.set(tenant, left);
      else heldByTenant.delete(tenant);
    },
    fits,
    isOverShare: (tenant) => (heldByTenant.get(tenant) ?? 0) > capacity / Math.max(1, heldByTenant.size),
    held: () => held,
    heldBy: (tenant) => heldByTenant.get(tenant) ?? 0,
  };
}
