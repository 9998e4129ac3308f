import { expect, test } from "bun:test";
import type { Listing } from "../../src/directory/listing.ts";
import { createDictionary } from "../../src/directory/snapshot/dictionary.ts";
import { createRow, type Row, type Rows } from "../../src/directory/snapshot/row.ts";
import { createSegmentWriter } from "../../src/directory/snapshot/shared-bytes.ts";
import { digestOf, sortedByHost } from "../../src/directory/snapshot/snapshot-build.ts";
import type { Contents } from "../../src/directory/sync/contents.ts";
import { openStateFolder, type StateFolder } from "../../src/directory/sync/state-folder.ts";
import type { StoredState } from "../../src/directory/sync/stored-state.ts";
import { listings, START } from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";

const LISTINGS = 1_000;
const LOG_BYTES_MAX = 2 ** 26;

const FIRST: StoredState = {
  ...{ format: 1, source: "https://a.example/", epoch: "e", version: 0, digest: "", count: 0, seq: 0 },
  ...{ base: { file: "", seq: 0, digest: "", bytes: 0 }, log: [], syncedAt: START, upstreamAgeMs: 0 },
  ...{ upstream: null, quarantinedAccepted: 0, quarantine: [], tombstones: [] },
};

test("a follower that has all listings collects garbage by the number of changes that it reads", () => {
  using folder = temporaryFolder("state-folder");
  const opened = openStateFolder(folder.path);
  const first = next(opened, FIRST, rowsWith(1));
  const second = next(opened, first.state, rowsWith(2));
  const collections: string[] = [];
  const { rows } = opened.contentsOf(
    second.state,
    {
      ...texts(),
      collectYoungGarbage: () => void collections.push("young"),
      collectGarbage: () => void collections.push("full"),
    },
    { rows: first.rows, seq: first.state.seq },
  );
  expect([...rows.values()].map(({ payers }) => payers)).toEqual(new Array(LISTINGS).fill(2));
  expect(collections).toEqual(["young"]);
});

const texts = () => ({ writer: createSegmentWriter(), dictionary: createDictionary() });

function rowsWith(payers: number): Rows {
  const dependencies = texts();
  const rows = new Map<string, Row>();
  for (const record of listings(LISTINGS)) {
    const listing = { ...record, evidence: { ...record.evidence, payers_30d: payers } } as never as Listing;
    rows.set(record.host, createRow(listing, null, undefined, dependencies));
  }
  dependencies.writer.finish();
  return rows;
}

/** Writes the state that comes after one, in which each listing has changed. */
function next(opened: StateFolder, before: StoredState, rows: Rows) {
  const sorted = sortedByHost(rows.values());
  const state = {
    ...before,
    ...{
      version: before.version + 1,
      seq: before.seq + rows.size,
      count: rows.size,
      digest: digestOf(sorted),
    },
  };
  const contents: Contents = { rows, quarantine: new Map(), tombstones: new Map() };
  const changes = sorted.map((row) => ({ op: "upsert" as const, host: row.host, row }));
  const staged = opened.stage(state, contents, changes, LOG_BYTES_MAX);
  opened.commit(staged.state, contents, staged.hasNewBase);
  return { state: staged.state, rows };
}
