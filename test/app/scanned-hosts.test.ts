import { expect, test } from "bun:test";
import { createScannedHosts } from "../../src/app/scanned-hosts.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { scoreEvidence } from "../../src/scan/score.ts";
import { openScans } from "../../src/store/sqlite/side-databases/scans/open-scans.ts";
import { status } from "../scan/made-up-answers.ts";
import { scan } from "../scan/made-up-service.ts";

/** What scans write of the hosts that the directory lists. */

function setUp({ anyPort }: { readonly anyPort: boolean }) {
  const database = openScans(null, systemClock);
  let changes = 0;
  const dependencies = {
    store: database.scans,
    changed: () => {
      changes += 1;
    },
  };
  return {
    hosts: createScannedHosts(dependencies, { judgeUrl: "https://judge.example", anyPort }),
    changes: () => changes,
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

test("a scan that leaves the listing of its host as it was brings nothing into the directory", async () => {
  using world = setUp({ anyPort: true });
  const [paid, gone] = [await scan({}), await scan({ answers: { "/v1/paid": () => status(404) } })];
  const changes = [gone, paid, paid, gone, gone].map((evidence) => {
    world.hosts.scanned(evidence, scoreEvidence(evidence));
    return world.changes();
  });
  expect(changes).toEqual([0, 1, 1, 2, 2]);
});
