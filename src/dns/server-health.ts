import type { Clock } from "../platform/clock.ts";

/** Which servers to ask first. */
export type ServerHealth<Server> = {
  /** The servers in the order in which one look-up asks them; never empty if there are servers. */
  readonly order: () => readonly Server[];
  readonly succeeded: (server: Server) => void;
  /** `certain` where there is no doubt that the server is down; else it takes two failures in a row. */
  readonly failed: (server: Server, certain: boolean) => void;
  readonly isFailing: (server: Server) => boolean;
};

const FAILURES_IN_A_ROW = 2;

/**
 * Keeps the order given, with failing servers last for `penaltyMs`. After that a single look-up tries the server
 * again, so that one which is still down costs one caller a wait, not all.
 */
export function createServerHealth<Server>(
  servers: readonly Server[],
  clock: Clock,
  penaltyMs: number,
): ServerHealth<Server> {
  const failuresInARow = new Map<Server, number>();
  const askLastUntil = new Map<Server, number>();

  function order(): readonly Server[] {
    if (askLastUntil.size === 0) return servers;
    const now = clock.monotonic();
    const first: Server[] = [];
    const last: Server[] = [];
    for (const server of servers) {
      const until = askLastUntil.get(server);
      if (until !== undefined && now < until) last.push(server);
      else first.push(server);
      if (until !== undefined && now >= until) askLastUntil.set(server, now + penaltyMs);
    }
    return first.concat(last);
  }

  function succeeded(server: Server): void {
    if (failuresInARow.delete(server)) askLastUntil.delete(server);
  }

  function failed(server: Server, certain: boolean): void {
    const failures = (failuresInARow.get(server) ?? 0) + (certain ? FAILURES_IN_A_ROW : 1);
    failuresInARow.set(server, failures);
    if (failures >= FAILURES_IN_A_ROW) askLastUntil.set(server, clock.monotonic() + penaltyMs);
  }

  return { order, succeeded, failed, isFailing: (server) => askLastUntil.has(server) };
}
