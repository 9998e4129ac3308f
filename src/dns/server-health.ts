import type { Clock } from "../platform/clock.ts";

/** The order of servers by their health. */
export type ServerHealth<Server> = {
  /** Returns the servers in the order for one look-up; never empty if there are servers. */
  readonly order: () => readonly Server[];
  readonly succeeded: (server: Server) => void;
  /** Counts a failure: one that is certain is enough, else it takes two in a row. */
  readonly failed: (server: Server, certain: boolean) => void;
  readonly isFailing: (server: Server) => boolean;
};

const FAILURES_IN_A_ROW = 2;

/**
 * Keeps the given order, with failing servers last for `penaltyMs`. After that a single look-up tries the server
 * again, so that one caller waits for a server that is still down, not all.
 */
export function createServerHealth<Server>(
  servers: readonly Server[],
  clock: Clock,
  penaltyMs: number,
): ServerHealth<Server> {
  const failuresInARow = new Map<Server, number>();
  const penaltyUntil = new Map<Server, number>();

  function order(): readonly Server[] {
    if (penaltyUntil.size === 0) return servers;
    const now = clock.monotonic();
    const first: Server[] = [];
    const last: Server[] = [];
    for (const server of servers) {
      const until = penaltyUntil.get(server);
      if (until !== undefined && now < until) last.push(server);
      else first.push(server);
      if (until !== undefined && now >= until) penaltyUntil.set(server, now + penaltyMs);
    }
    return first.concat(last);
  }

  function succeeded(server: Server): void {
    if (failuresInARow.delete(server)) penaltyUntil.delete(server);
  }

  function failed(server: Server, certain: boolean): void {
    const failures = (failuresInARow.get(server) ?? 0) + (certain ? FAILURES_IN_A_ROW : 1);
    failuresInARow.set(server, failures);
    if (failures >= FAILURES_IN_A_ROW) penaltyUntil.set(server, clock.monotonic() + penaltyMs);
  }

  return { order, succeeded, failed, isFailing: (server) => penaltyUntil.has(server) };
}
