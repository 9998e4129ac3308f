import { expect, test } from "bun:test";
import type { Components } from "../../src/app/components.ts";
import { checksOf } from "../../src/app/health-probes.ts";
import { clock } from "../store/store-conformance.ts";

/** A file system of Linux that has no room. */
const FULL = "/proc";

/** What /health says of a full disk. */
const fullDisk = (databaseUrl: string | null) =>
  checksOf({ dataDir: FULL, databaseUrl }, clock, {} as Components).disk?.run(new AbortController().signal);

test.skipIf(process.platform !== "linux")(
  "a full disk fails the health of a server that charges there, and warns of a node that charges elsewhere",
  async () => {
    const full = { observed: 0, unit: "MB", output: "The disk that holds DATA_DIR is nearly full." } as const;
    expect(await fullDisk(null)).toEqual({ status: "fail", ...full });
    expect(await fullDisk("postgres://db.example/assay")).toEqual({ status: "warn", ...full });
  },
);
