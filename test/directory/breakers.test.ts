import { describe, expect, test } from "bun:test";
import { type SyncFacts, trippedBreakers } from "../../src/directory/sync/breakers.ts";
import { START } from "../support/directory.ts";

const CALM: SyncFacts = {
  now: START,
  countBefore: 100,
  count: 100,
  records: 100,
  quarantined: 0,
  quarantineReason: "",
  quarantinedAccepted: 0,
  payeesCompared: 100,
  payeesChanged: 0,
  versionBefore: 5,
  version: 5,
  generatedAtBefore: START - 1000,
  generatedAt: START - 1000,
  exportedAt: START - 1000,
};

function trips(facts: Partial<SyncFacts>): string[] {
  return trippedBreakers({ ...CALM, ...facts }).map((trip) => trip.breaker);
}

describe("trippedBreakers", () => {
  test("lets an ordinary sync pass", () => {
    expect(trips({})).toEqual([]);
  });
  test("trips above 5 % quarantined, not at it", () => {
    expect(trips({ quarantined: 5 })).toEqual([]);
    expect(trips({ quarantined: 6 })).toEqual(["quarantine"]);
  });
  test("says why most records are quarantined", () => {
    const facts = { ...CALM, quarantined: 7, quarantineReason: "bad_pay_to" };
    expect(trippedBreakers(facts)).toEqual([
      {
        breaker: "quarantine",
        message: "7 of 100 records are not valid (limit 5 %; bad_pay_to the most often)",
      },
    ]);
  });
  test("lets the invalid records pass that the operator has accepted, but no more of them", () => {
    expect(trips({ quarantined: 6, quarantinedAccepted: 6 })).toEqual([]);
    expect(trips({ quarantined: 7, quarantinedAccepted: 6 })).toEqual(["quarantine"]);
  });
  test("trips above a drop of 30 %, not at it", () => {
    expect(trips({ count: 70 })).toEqual([]);
    expect(trips({ count: 69 })).toEqual(["count_drop"]);
  });
  test("trips when nothing is left", () => {
    expect(trips({ countBefore: 1, count: 0 })).toEqual(["count_drop"]);
  });
  test("trips above 10 % changed payees, not at it", () => {
    expect(trips({ payeesChanged: 10 })).toEqual([]);
    expect(trips({ payeesChanged: 11 })).toEqual(["payee_change"]);
  });
  test("does not trip on one change in a directory of three, but on two", () => {
    const small = { countBefore: 3, count: 3, records: 3, payeesCompared: 3 };
    expect(trips({ ...small, payeesChanged: 1 })).toEqual([]);
    expect(trips({ ...small, payeesChanged: 2 })).toEqual(["payee_change"]);
    expect(trips({ ...small, quarantined: 1 })).toEqual([]);
    expect(trips({ ...small, quarantined: 2 })).toEqual(["quarantine"]);
    expect(trips({ ...small, count: 2 })).toEqual([]);
    expect(trips({ ...small, count: 1 })).toEqual(["count_drop"]);
  });
  test("trips on an older version or an older export", () => {
    expect(trips({ version: 4 })).toEqual(["rollback"]);
    expect(trips({ versionBefore: null, version: 4 })).toEqual([]);
    expect(trips({ generatedAt: START - 2000 })).toEqual(["rollback"]);
  });
  test("ignores a previous export that is dated in the future", () => {
    const ahead = (ms: number) => trips({ generatedAtBefore: START + ms });
    expect(ahead(5 * 60_000)).toEqual(["rollback"]);
    expect(ahead(5 * 60_000 + 1)).toEqual([]);
  });
  test("trips on an export older than 48 hours, not on one of 48", () => {
    expect(trips({ exportedAt: START - 48 * 3_600_000 })).toEqual([]);
    expect(trips({ exportedAt: START - 48 * 3_600_000 - 1 })).toEqual(["freeze"]);
    expect(trips({ exportedAt: null })).toEqual([]);
  });
  test("names every breaker that has tripped", () => {
    expect(trips({ count: 1, payeesChanged: 99, version: 1 })).toEqual([
      "count_drop",
      "rollback",
      "payee_change",
    ]);
  });
});
