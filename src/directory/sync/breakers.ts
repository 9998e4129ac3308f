import { nounOf } from "../../contract/noun.ts";
import { FUTURE_TOLERANCE_MS } from "../listing.ts";

/** The facts of a sync that show whether something is wrong with the upstream. */
export type SyncFacts = {
  readonly now: number;
  readonly countBefore: number;
  readonly count: number;
  /** Valid and invalid records together. */
  readonly records: number;
  readonly quarantined: number;
  /** The most frequent reason; empty without quarantined records. */
  readonly quarantineReason: string;
  /** The number of quarantined records that the operator has accepted already. */
  readonly quarantinedAccepted: number;
  readonly payeesCompared: number;
  readonly payeesChanged: number;
  /** Of the same epoch; null where the upstream does not number its states. */
  readonly versionBefore: number | null;
  readonly version: number | null;
  /** The times of the exports in ms UTC, where the upstream states them. */
  readonly generatedAtBefore: number | null;
  readonly generatedAt: number | null;
  /** The time of the export, stated or computed from its age. */
  readonly exportedAt: number | null;
};

export type Trip = {
  readonly breaker: "quarantine" | "count_drop" | "rollback" | "freeze" | "payee_change";
  readonly message: string;
};

const FREEZE_MS = 48 * 3_600_000;
/** Shares count from two records on: a single record of a small directory shows nothing. */
const RECORDS_MIN = 2;

/** Returns the breakers that a sync trips; empty for an ordinary one. */
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
  // A stored time in the future is ignored, as it would refuse every export until then.
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
