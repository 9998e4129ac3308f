import type { ChargeLane } from "./charge-lane.ts";

/** The lanes of one account. */
export type OwnLanes = { readonly calls: ChargeLane; readonly chunks: ChargeLane };

export type LanesApart = {
  /** Returns the lanes of an account that is apart. */
  readonly of: (accountId: string) => OwnLanes | undefined;
  /** Sets an account apart, unless it is; returns its lanes. */
  readonly begin: (accountId: string) => OwnLanes;
  /** Ends what `begin` began: what waits in its lanes is written there all the same. */
  readonly end: (accountId: string) => void;
  readonly waiting: () => number;
  /** Resolves once nothing is on its way. */
  readonly drained: () => Promise<void>;
};

/** Keeps accounts apart whose rows another session holds, so that no other account waits with them. */
export function createLanesApart(openLanes: (accountId: string) => OwnLanes): LanesApart {
  const apart = new Map<string, OwnLanes>();
  /** Lanes of accounts that are apart no more, and may have something on its way. A new object with each `end`. */
  const draining = new Map<string, OwnLanes>();
  /** Those that may still have something on its way. */
  const open = new Set<ChargeLane>();

  function close(accountId: string, ended: OwnLanes): void {
    // It was set apart again meanwhile.
    if (draining.get(accountId) !== ended) return;
    draining.delete(accountId);
    for (const lane of [ended.calls, ended.chunks]) open.delete(lane);
  }

  return {
    of: (accountId) => apart.get(accountId),
    begin(accountId) {
      const known = apart.get(accountId);
      if (known !== undefined) return known;
      // Second lanes would count their groups beside the first ones, under the same name.
      const lanes = draining.get(accountId) ?? openLanes(accountId);
      draining.delete(accountId);
      apart.set(accountId, lanes);
      for (const lane of [lanes.calls, lanes.chunks]) open.add(lane);
      return lanes;
    },
    end(accountId) {
      const lanes = apart.get(accountId);
      if (lanes === undefined) return;
      apart.delete(accountId);
      const ended = { ...lanes };
      draining.set(accountId, ended);
      void Promise.all([ended.calls.drained(), ended.chunks.drained()]).then(() => close(accountId, ended));
    },
    waiting: () => [...open].reduce((sum, lane) => sum + lane.waiting(), 0),
    drained: async () => {
      await Promise.all([...open].map((lane) => lane.drained()));
    },
  };
}
