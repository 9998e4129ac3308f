import { describe, expect, test } from "bun:test";
import { dirname, join, normalize, relative } from "node:path";

/** Who may import what inside the house, and which library has which importer. */

const ROOT = join(import.meta.dir, "../..");

/** A folder's files may import from its own folder and from these folders and files; `*` is everything. */
const ARROWS: { readonly [room: string]: readonly string[] } = {
  platform: [],
  contract: [],
  verification: ["contract", "platform/bits", "platform/byte-writer"],
  dns: ["platform"],
  net: ["platform", "dns"],
  domains: ["platform", "dns", "verification"],
  batch: ["platform", "contract", "verification", "domains", "billing"],
  store: ["platform"],
  billing: ["platform", "contract", "store"],
  accounts: ["platform", "contract", "store", "billing"],
  payments: ["platform", "contract", "store", "billing", "net"],
  signing: [],
  judge: ["contract", "directory", "signing", "payments/tokens"],
  prober: [
    "platform",
    "contract",
    "net",
    "store",
    "judge",
    "directory",
    "billing/money",
    "payments/ways-to-pay",
    "payments/networks",
    "payments/tokens",
  ],
  scan: [
    "platform",
    "contract",
    "dns",
    "net",
    "payments",
    "signing",
    "store",
    "billing/money",
    "directory/listing-reader",
    "directory/payee",
  ],
  inference: ["platform", "contract", "billing", "net", "payments", "signing", "store"],
  directory: ["platform", "contract", "dns", "net", "store"],
  "made-up-dns": ["dns", "domains"],
  "test-keys": ["platform", "contract", "verification", "dns", "domains", "batch", "made-up-dns"],
  docs: ["platform/html"],
  console: ["contract", "verification", "billing", "tables", "platform/pause", "platform/percent-escapes"],
  http: [
    "docs",
    "console",
    "platform",
    "contract",
    "verification",
    "dns",
    "domains",
    "batch",
    "store",
    "billing",
    "accounts",
    "directory",
    "inference",
    "jobs",
    "judge",
    "net",
    "payments",
    "prober",
    "scan",
    "signing",
    "webhooks",
  ],
  tables: ["platform", "batch", "verification", "contract"],
  jobs: ["platform", "contract", "verification", "domains", "batch", "billing", "store", "tables"],
  webhooks: ["platform", "contract", "store", "billing", "net"],
  client: ["contract"],
  examples: ["client"],
  workers: [
    "platform",
    "verification",
    "batch",
    "jobs",
    "directory",
    "net",
    "prober",
    "store/sqlite/side-databases/probes/read-probes",
    "store/directory-port",
    "store/postgres/directory/open-directory",
  ],
  // The compositions: they know every room, and nothing but each other knows them.
  app: ["*"],
  main: ["*"],
  "scan-command": ["*"],
  "scan-service": ["*"],
  "inference-service": ["*"],
  "receipts-command": ["*"],
  cli: ["*"],
  demo: ["*"],
  tools: ["*"],
};

/** Where each library may be imported; a place is a folder or a file. */
const IMPORTERS: { readonly [library: string]: readonly string[] } = {
  elysia: ["src/http/mount.ts", "src/app/routes.ts"],
  "@elysiajs/bearer": ["src/http/bearer.ts"],
  "@sinclair/typebox": ["src/http", "src/contract", "src/tools/build/schema-types.ts"],
  "prom-client": ["src/http/routes/metrics.ts", "src/http/call-tally.ts"],
  "swagger-ui-dist": ["src/http/routes/docs.ts"],
  "drizzle-orm": ["src/store/sqlite", "src/store/postgres", "src/store/conditions.ts"],
  "bun:sqlite": ["src/store/sqlite"],
  piscina: ["src/batch/pool.ts", "src/batch/transfer.ts"],
  "@noble/hashes": ["src/directory/payee.ts"],
  "lru-cache": ["src/dns", "src/domains", "src/accounts"],
  "dns-packet": ["src/made-up-dns"],
  tldts: ["src/verification/email", "src/domains", "src/tools/data-refresh"],
  "libphonenumber-js": ["src/verification/phone", "src/tools/data-refresh"],
  preact: ["src/console/page"],
  pino: ["src/app/log.ts"],
  commander: ["src/cli/arguments.ts"],
  "csv-parse": ["src/tables/csv-rows.ts"],
  "cli-progress": ["src/cli/progress.ts"],
};

type Import = { readonly file: string; readonly target: string };

function* sources(folder: string): Generator<string> {
  for (const file of new Bun.Glob("**/*.{ts,tsx}").scanSync({ cwd: join(ROOT, folder) }))
    yield `${folder}/${file}`;
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await Bun.file(join(ROOT, file)).text();
  const pattern = /(?:^|\n)\s*(?:import|export)[^"';]*?from\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/g;
  return [...text.matchAll(pattern)].map((match) => ({ file, target: match[1] ?? match[2] ?? "" }));
}

/** Returns the files and libraries that are read before the first line of a file runs: what it imports, and they. */
async function readAtStart(start: string): Promise<string[]> {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const found = new Set([start]);
  for (const file of found) {
    if (!file.endsWith(".ts")) continue;
    // Imports of types alone are no part of what runs.
    for (const { kind, path } of transpiler.scan(await Bun.file(join(ROOT, file)).text()).imports) {
      if (kind !== "import-statement") continue;
      found.add(path.startsWith(".") ? normalize(join(dirname(file), path)) : path);
    }
  }
  return [...found];
}

/** `src/verification/email/address.ts` → `verification`; `src/platform/clock.ts` → `platform`; `workers/batch.ts` → `workers`. */
function roomOf(file: string): string {
  const [top, second] = file.split("/");
  return top === "workers" ? "workers" : (second ?? "").replace(/\.ts$/, "");
}

const files = [...sources("src"), ...sources("workers")];
const imports = (await Promise.all(files.map(importsOf))).flat();

describe("the rooms of the house", () => {
  test("arrows point one way", () => {
    const broken = imports.flatMap(({ file, target }) => {
      if (!target.startsWith(".")) return [];
      const from = roomOf(file);
      const path = relative(ROOT, normalize(join(ROOT, dirname(file), target)));
      const to = roomOf(path);
      const allowed = ARROWS[from];
      if (allowed === undefined) return [`${file}: the room ${from} has no line in ARROWS`];
      const places = [to, path.slice("src/".length, -".ts".length), "*"];
      return from === to || places.some((place) => allowed.includes(place)) ? [] : [`${file} → ${path}`];
    });
    expect(broken).toEqual([]);
  });

  test("nothing imports the programs that stand beside the server, but one of them another", () => {
    const programs = new Set(["cli", "demo", "examples", "tools"]);
    const broken = imports.filter(({ file, target }) => {
      const path = relative(ROOT, normalize(join(ROOT, dirname(file), target)));
      return target.startsWith(".") && programs.has(roomOf(path)) && !programs.has(roomOf(file));
    });
    expect(broken).toEqual([]);
  });

  test("what stands behind the store's port is known to the openers alone", () => {
    const openers = new Set(["store", "app", "tools", "workers"]);
    const broken = imports.filter(({ file, target }) => {
      const path = relative(ROOT, normalize(join(ROOT, dirname(file), target)));
      const isBehind = path.startsWith("src/store/sqlite/") || path.startsWith("src/store/postgres/");
      return target.startsWith(".") && isBehind && !openers.has(roomOf(file));
    });
    expect(broken).toEqual([]);
  });

  test("the server reads no code of paid services, checks and probes before somebody wants it", async () => {
    const isLater = /^src\/(payments|scan|prober|judge|inference|signing)\//;
    for (const start of ["src/main.ts", "workers/directory-sync.ts"]) {
      expect((await readAtStart(start)).filter((file) => isLater.test(file))).toEqual([]);
    }
    expect(await readAtStart("src/scan-service.ts")).toContain("src/payments/payments.ts");
  });

  test("a server by itself reads no code of clusters, documents and phone numbers before somebody wants it", async () => {
    const isLater =
      /^src\/(store\/postgres|jobs\/uploads\/shared-parts|verification\/phone|verification\/documents\/(registry|autodetect))/;
    // The form of an address, and the search for card numbers in what is no address, need no other file.
    const read = (await readAtStart("src/main.ts")).filter((file) => isLater.test(file));
    expect(read).toEqual(["src/store/postgres/connection/database-url.ts"]);
    expect(await readAtStart("workers/batch.ts")).toContain("src/verification/phone/validation.ts");
  });

  test("the start reads no page of the documentation, no way out, and nothing that runs threads, jobs or searches", async () => {
    const isLater =
      /^(piscina|node:tls|@noble\/.*)$|^src\/(docs\/|net\/(connection|http-client)\.ts|http\/routes\/(jobs|directory)\.ts|jobs\/chunks\/chunk-run\.ts)/;
    expect((await readAtStart("src/main.ts")).filter((file) => isLater.test(file))).toEqual([]);
    expect(await readAtStart("workers/batch.ts")).toContain("piscina");
  });

  test("the command line reads no code that verifies before something is verified here", async () => {
    const isLater =
      /^(tldts|lru-cache|libphonenumber-js.*)$|^src\/(verification|domains)\/|^src\/(batch\/pool|dns\/resolver)\.ts$/;
    expect((await readAtStart("src/cli/main.ts")).filter((file) => isLater.test(file))).toEqual([]);
    expect(await readAtStart("src/cli/local-verifier.ts")).toContain("src/batch/pool.ts");
  });

  test("nothing outside the data refresh imports a development dependency", async () => {
    const { devDependencies } = await Bun.file(join(ROOT, "package.json")).json();
    const broken = imports.filter(({ file, target }) => {
      const library = Object.keys(devDependencies).find(
        (name) => target === name || target.startsWith(`${name}/`),
      );
      return library !== undefined && !file.startsWith("src/tools/data-refresh/");
    });
    expect(broken).toEqual([]);
  });

  test("each library has its one importer", () => {
    const broken = imports.filter(({ file, target }) => {
      const library = Object.keys(IMPORTERS).find((name) => target === name || target.startsWith(`${name}/`));
      if (library === undefined) return false;
      return !(IMPORTERS[library] ?? []).some((place) => file === place || file.startsWith(`${place}/`));
    });
    expect(broken).toEqual([]);
  });

  test("time, chance and the environment enter from outside", async () => {
    const outside = /\bDate\.now\(|\bMath\.random\(|\bprocess\.env\b|\bBun\.env\b|\bnew Date\(\)/;
    const entrances = new Set([
      "src/main.ts",
      "src/scan-service.ts",
      "src/inference-service.ts",
      "src/console/page/main.tsx",
      "src/cli/main.ts",
      "src/demo/main.ts",
      "src/tools/backup.ts",
      "src/tools/admin.ts",
      "src/tools/cluster/main.ts",
      "src/tools/migrate-to-postgres.ts",
      "src/platform/clock.ts",
      "src/app/settings.ts",
      // Receivers of webhooks call it with the delivery alone; `now` may be given.
      "src/client/webhook.ts",
      // The mode of the library, and a sample of a call: texts that others read.
      "src/console/bundle.ts",
      "src/console/page/text/samples.ts",
    ]);
    const broken: string[] = [];
    for (const file of files) {
      if (entrances.has(file) || /^(?:workers|src\/examples)\//.test(file)) continue;
      const text = await Bun.file(join(ROOT, file)).text();
      if (outside.test(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ""))) broken.push(file);
    }
    expect(broken).toEqual([]);
  });
});
