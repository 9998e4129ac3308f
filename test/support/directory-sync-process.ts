import { randomBytes } from "node:crypto";
import { createSyncer } from "../../src/directory/sync/sync-dependencies.ts";
import { systemClock } from "../../src/platform/clock.ts";

/** Syncs without a pause until it is killed, and says the version after each sync. Arguments: upstream, folder. */
const [, , upstream = "", folder = ""] = process.argv;
const syncer = createSyncer(
  { upstream, folder, file: null, allowPrivateUpstream: true, allowRedirects: false },
  {
    lookUp: async () => ({ ok: true, addresses: ["127.0.0.1"] }),
    clock: systemClock,
    newId: () => randomBytes(8).toString("hex"),
  },
);
const opened = await syncer.open();
process.stdout.write(`opened ${opened.published?.snapshot.version ?? 0} ${opened.problems.join()}\n`);
for (;;) {
  const outcome = await syncer.sync({ acceptTripped: false });
  if (outcome.kind === "changed") process.stdout.write(`version ${outcome.published.snapshot.version}\n`);
  else if ("reason" in outcome) process.stdout.write(`${outcome.kind} ${outcome.reason}\n`);
}
