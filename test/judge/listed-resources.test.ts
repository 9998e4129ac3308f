import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CheckView } from "../../src/contract/specification/directory/check.ts";
import type { Snapshot } from "../../src/directory/snapshot/snapshot.ts";
import { createCheck } from "../../src/judge/check.ts";
import { dayOf } from "../../src/platform/days.ts";
import { createOwnEvidence } from "../../src/prober/own-evidence.ts";
import type { Probe } from "../../src/store/probe-port.ts";
import { openProbes, type ProbeDatabase } from "../../src/store/sqlite/side-databases/probes/open-probes.ts";
import { listing, payee, type TestListing } from "../support/directory.ts";
import { syncedPair } from "../support/synced-directory.ts";

/** Which listing and which probes a resource is judged by, however its address is spelt and wherever it is listed. */

const HOST = "service-00001.example";
const OTHER_PAYEE = payee(999);
const USDC_ON_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

/** As listed, and as it is asked for. */
const SPELLINGS = [
  [`https://${HOST}/v1/run`, `https://${HOST}/v1/run`],
  [`https://${HOST}`, `https://${HOST}/`],
  [`https://${HOST}:443/pay`, `https://${HOST}/pay`],
  [`https://${HOST.toUpperCase()}/pay`, `https://${HOST}/pay`],
  [`https://${HOST}/./pay`, `https://${HOST}/pay`],
  [`HTTPS://${HOST}/pay`, `https://${HOST}/pay`],
  [`https://${HOST}/pay#part`, `https://${HOST}/pay`],
  [`https://${HOST}/pay#`, `https://${HOST}/pay`],
] as const;

let pair: Awaited<ReturnType<typeof syncedPair>>;
let database: ProbeDatabase;
beforeAll(async () => {
  pair = await syncedPair(3);
  database = openProbes(null, pair.clock);
});
afterAll(() => {
  pair[Symbol.dispose]();
  database[Symbol.dispose]();
});

const named = (url: string) => `https://judge.example/v1/check?resource=${encodeURIComponent(url)}`;

/** A listing of a host with this one resource. */
function listingOf(host: string, url: string): TestListing {
  return listing(1, (record) => {
    Object.assign(record, { host, description: "Of one resource.", judged_by: named(url) });
    record.resources = record.resources.map((resource) => ({ ...resource, url }));
  });
}

async function snapshotWith(...records: readonly TestListing[]): Promise<Snapshot> {
  for (const record of records) pair.upstream.put(record);
  const outcome = await pair.sync();
  if (outcome.kind !== "changed") throw new Error(JSON.stringify(outcome));
  return outcome.published.snapshot;
}

const check = () =>
  createCheck({
    signingKey: { sign: () => "" },
    ownEvidence: createOwnEvidence(database.probes, pair.clock),
    monotonic: () => 0,
  });

function judged(by: ReturnType<typeof check>, snapshot: Snapshot, resource: string): CheckView {
  const view = { snapshot, stale: false, syncedAt: pair.clock.now() };
  return JSON.parse(by.judge(view as never, "", new URL(resource)).text) as CheckView;
}

/** What the prober sees of a resource: it asks to be paid at another address. */
function probe(url: string, host: string): Probe {
  const at = pair.clock.now();
  const way = { network: "eip155:8453", asset: USDC_ON_BASE, amount: "10000", pay_to: OTHER_PAYEE };
  return {
    ...{ url, host, method: "GET", at, day: dayOf(at), status: "paid", ms: 100 },
    ...{ accepts: JSON.stringify([way]), payTo: OTHER_PAYEE, priceMicroUsd: 10_000 },
  };
}

const codesOf = ({ reasons }: CheckView) => reasons.map(({ code }) => code);

test("what the prober saw of a resource counts in whatever spelling it is listed", async () => {
  for (const [listed, asked] of SPELLINGS) {
    const snapshot = await snapshotWith(listingOf(HOST, listed));
    database.probes.record(Array.from({ length: 30 }, () => probe(listed, HOST)));
    const view = judged(check(), snapshot, asked);
    expect([listed, view.verdict, codesOf(view)]).toEqual([
      listed,
      "deny",
      expect.arrayContaining(["payee_mismatch"]),
    ]);
  }
});

test("a probe of a resource ends its cached verdict in whatever spelling it is listed", async () => {
  for (const [listed, asked] of SPELLINGS) {
    // Another path for each, of which the prober has seen nothing yet.
    const url = (of: string) => of.replace("/pay", "/later").replace("/v1/run", "/v1/later");
    if (url(listed) === listed) continue;
    const snapshot = await snapshotWith(listingOf(HOST, url(listed)));
    const by = check();
    expect([listed, judged(by, snapshot, url(asked)).observed]).toEqual([listed, null]);
    database.probes.record([probe(url(listed), HOST)]);
    by.probed(url(listed));
    expect([listed, judged(by, snapshot, url(asked)).observed]).not.toEqual([listed, null]);
  }
});

test("a resource that a host above lists is judged by that listing, though its own host has one without it", async () => {
  const url = `https://api.${HOST}/x`;
  const snapshot = await snapshotWith(
    listingOf(HOST, url),
    listingOf(`api.${HOST}`, `https://api.${HOST}/other`),
  );
  database.probes.record(Array.from({ length: 30 }, () => probe(url, HOST)));
  const view = judged(check(), snapshot, url);
  expect([view.verdict, codesOf(view)]).toEqual(["deny", expect.arrayContaining(["payee_mismatch"])]);
  expect(codesOf(judged(check(), snapshot, `https://api.${HOST}/nowhere`))).toContain("not_listed");
});

test("of the listings that may contain a resource the one of the nearest host counts", async () => {
  const url = `https://api.${HOST}/x`;
  const near = listingOf(`api.${HOST}`, url);
  near.evidence.pay_to = payee(77);
  const snapshot = await snapshotWith(listingOf(HOST, url), near);
  expect(judged(check(), snapshot, url).pay_to.address).toBe(payee(77));
});

test("of hosts above each other eight listings are looked at, and no more", async () => {
  const hosts = Array.from({ length: 9 }, (_, n) => `${"a.".repeat(n)}${HOST}`);
  const deepest = `https://${hosts.at(-1)}`;
  const [top = "", second = "", ...others] = hosts;
  const snapshot = await snapshotWith(
    listingOf(top, `${deepest}/top`),
    listingOf(second, `${deepest}/second`),
    ...others.map((host) => listingOf(host, `https://${host}/own`)),
  );
  expect(judged(check(), snapshot, `${deepest}/second`).pay_to.address).not.toBeNull();
  expect(judged(check(), snapshot, `${deepest}/top`).pay_to.address).toBeNull();
});
