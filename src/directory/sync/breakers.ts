import { nounOf } from "../../contract/noun.ts";
import { FUTURE_TOLERANCE_MS } from "../listing.ts";

/** What a sync would change, as far as it can show that something is wrong with the upstream. */
export type SyncFacts = {
  readonly now: number;
  readonly countBefore: number;
  readonly count: number;
  /** Good and bad records together. */
  readonly records: number;
  readonly quarantined: number;
  /** Why most of them are; empty where none is. */
  readonly quarantineReason: string;
  /** How many bad ones the operator has let pass already. */
  readonly quarantinedAccepted: number;
  readonly payeesCompared: number;
  readonly payeesChanged: number;
  /** Of the same epoch; null where the upstream does not number its states. */
  readonly versionBefore: number | null;
  readonly version: number | null;
  /** What the upstream said outright of the time of its export, in ms UTC. */
  readonly generatedAtBefore: number | null;
  readonly generatedAt: number | null;
  /** When the export was made as far as is known, be it by its age. */
  readonly exportedAt: number | null;
};

export type Trip = {
  readonly breaker: "quarantine" | "count_drop" | "rollback" | "freeze" | "payee_change";
  readonly message: string;
};

const FREEZE_MS = 48 * 3_600_000;
/** A single record of a small directory is no sign of anything: shares count from two records on. */
const RECORDS_MIN = 2;

/** Returns the reasons not to take over what the upstream offers; none for a sync that looks like any other. */
export function trippedBreakers(facts: SyncFacts): Trip[] {
  return [quarantine(facts), countDrop(facts), rollback(facts), freeze(facts), payeeChange(facts)].filter(
    (trip) => trip !== null,
  );
}

/** @example shareOf(2, 5, "listing") // "2 of 5 listings are" */
function shareOf(part: number, whole: number, noun: string): string {
  return `${part} of ${whole} ${nounOf(whole, noun)} ${part === 1 ? "is" : "are"}`;
}

function quarantine(facts: SyncFacts): Trip | null {
  const { quarantined, quarantineReason, quarantinedAccepted, records } = facts;
  const allBad = quarantined > 0 && quarantined === records;
  const tooMany = quarantined >= RECORDS_MIN && quarantined * 100 > records * 5;
  if (!(allBad || tooMany) || quarantined <= quarantinedAccepted) return null;
  return {
    breaker: "quarantine",
    message: `${shareOf(quarantined, records, "record")} not valid (limit 5 %; ${quarantineReason} the most often)`,
  };
}

function countDrop({ count, countBefore }: SyncFacts): Trip | null {
  const drop = countBefore - count;
  const emptied = drop > 0 && count === 0;
  if (!emptied && !(drop >= RECORDS_MIN && drop * 100 > countBefore * 30)) return null;
  return { breaker: "count_drop", message: `${shareOf(drop, countBefore, "listing")} gone (limit 30 %)` };
}

function rollback(facts: SyncFacts): Trip | null {
  const { now, version, versionBefore, generatedAt, generatedAtBefore } = facts;
  if (version !== null && versionBefore !== null && version < versionBefore) {
    return { breaker: "rollback", message: `version ${version} is older than ${versionBefore}` };
  }
  // A remembered time that still lies ahead says nothing: it would refuse every true one until it has come.
  const isKnown = generatedAtBefore !== null && generatedAtBefore <= now + FUTURE_TOLERANCE_MS;
  if (generatedAt !== null && isKnown && generatedAt < generatedAtBefore) {
    const [offered, ours] = [new Date(generatedAt).toISOString(), new Date(generatedAtBefore).toISOString()];
    return { breaker: "rollback", message: `the export of ${offered} is older than that of ${ours}` };
  }
  return null;
}

function freeze({ exportedAt, now }: SyncFacts): Trip | null {
  if (exportedAt === null || now - exportedAt <= FREEZE_MS) return null;
  const hours = Math.floor((now - exportedAt) / 3_600_000);
  return { breaker: "freeze", message: `the export is ${hours} hours old (limit 48)` };
}

function payeeChange({ payeesChanged, payeesCompared }: SyncFacts): Trip | null {
  if (payeesChanged < RECORDS_MIN || payeesChanged * 100 <= payeesCompared * 10) return null;
  return {
    breaker: "payee_change",
    message: `${payeesChanged} of ${payeesCompared} payees change at once (limit 10 %)`,
  };
}
