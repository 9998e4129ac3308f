import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { CLIENT_SCHEMAS } from "../../src/contract/client-schemas.ts";
import { buildClientPackage } from "../../src/tools/build/client-package.ts";
import { newSecret, signedHeaders } from "../../src/webhooks/signature.ts";
import { temporaryFolder } from "../support/process.ts";
import { startFileServer } from "../support/server.ts";

/** The npm package of the client, installed from its tarball and used under Node. */

setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, "../..");

let folder: ReturnType<typeof temporaryFolder>;
const server = await startFileServer();
beforeAll(async () => {
  folder = temporaryFolder("client-package");
  const tarball = join(folder.path, "assay-client.tgz");
  await buildClientPackage({ root: ROOT, outfile: tarball });
  await Bun.write(join(folder.path, "package.json"), '{"type":"module","private":true}');
  await run("npm", "install", "--offline", "--no-audit", "--no-fund", tarball);
});
afterAll(async () => {
  folder[Symbol.dispose]();
});

async function run(...command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { cwd: folder.path, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

test("under Node it verifies, streams and throws its own errors", async () => {
  const apiKey = await server.signUp();
  await Bun.write(
    join(folder.path, "program.js"),
    `import { createClient, IncompleteReplyError, RefusedError } from "assay-client";
     const [baseUrl, apiKey] = process.argv.slice(2);
     const assay = createClient({ baseUrl, apiKey });
     const { status } = await assay.verifyEmail("ann@good.com");
     const results = assay.streamEmails(Array.from({ length: 3000 }, (_, i) => "user" + i + "@good.com"));
     let count = 0;
     for await (const { score } of results) if (score > 80) count += 1;
     const refusal = await createClient({ baseUrl, apiKey: "asy_wrong" }).account().catch((error) => error);
     console.log(JSON.stringify({
       status, count, units: results.end().summary.units_charged,
       code: refusal.code, isRefused: refusal instanceof RefusedError, other: typeof IncompleteReplyError,
     }));`,
  );
  const printed = await run("node", "program.js", server.url, apiKey);
  expect(JSON.parse(printed)).toEqual({
    status: "deliverable",
    count: 3000,
    units: 3000,
    code: "bad_key",
    isRefused: true,
    other: "function",
  });
});

test("under Node it uploads a job, watches it, reads its results and verifies what a webhook is sent", async () => {
  const apiKey = await server.signUp();
  await Bun.write(
    join(folder.path, "job.js"),
    `import { createClient, verifyWebhook } from "assay-client";
     const [baseUrl, apiKey, secret, headers, body] = process.argv.slice(2);
     const assay = createClient({ baseUrl, apiKey });
     const rows = Array.from({ length: 3000 }, (_, i) => "user" + i + "@good.com");
     const { job_id, counts } = await assay.createJob({ rows }, { dns: false }, { partBytes: 16384 });
     let last;
     for await (const job of assay.watchJob(job_id)) last = job.status;
     let inOrder = 0;
     for await (const { row, email } of assay.jobResults(job_id)) if (email === rows[row - 1]) inOrder += 1;
     const { type } = await verifyWebhook(secret, JSON.parse(headers), body);
     console.log(JSON.stringify({ rows: counts.rows, last, inOrder, type }));`,
  );
  const secret = newSecret(randomBytes);
  const body = '{"type":"webhook.test"}';
  const headers = signedHeaders({ id: "evt_1", at: Date.now(), body, secrets: [secret] });
  const printed = await run("node", "job.js", server.url, apiKey, secret, JSON.stringify(headers), body);
  expect(JSON.parse(printed)).toEqual({ rows: 3000, last: "completed", inOrder: 3000, type: "webhook.test" });
});

test("its types check a program, and refuse a field that there is not", async () => {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const program = (field: string) =>
    `import { createClient, type EmailResult } from "assay-client";
     const assay = createClient({ baseUrl: "http://127.0.0.1:3000" });
     export const first: Promise<EmailResult> = assay.verifyEmail("ann@example.com");
     export const value = async () => (await first).${field};`;
  const check = async (field: string) => {
    await Bun.write(join(folder.path, "program.ts"), program(field));
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022"];
    return run("node", tsc, ...options, "--lib", "es2023,dom,dom.iterable", "--types", "", "program.ts");
  };
  expect(await check("did_you_mean")).toBe("");
  await expect(check("didYouMean")).rejects.toThrow("didYouMean");
});

test("its types are those of the contract", async () => {
  const names = Object.keys(CLIENT_SCHEMAS);
  const derived = await Bun.file(join(ROOT, "src/client/contract-types.ts")).text();
  expect(
    [...derived.matchAll(/^export type (\w+) = ClientTypes\["(\w+)"\];$/gm)].map(([, a, b]) => [a, b]),
  ).toEqual(names.map((name) => [name, name]));
  // The written ones may be narrower, as words that the project reads as any string; where nothing was detected they
  // are wider, as that schema is.
  const wider = ["DetectedDocument", "DocumentBatch"];
  const program = `
    import type * as written from "assay-client";
    import type * as derived from ${JSON.stringify(join(ROOT, "src/client/contract-types.ts"))};
    type Fits<A, B> = [A, keyof A] extends [B, keyof B] ? true : never;
    ${names
      .filter((name) => !wider.includes(name))
      .map((name) => `true satisfies Fits<written.${name}, derived.${name}>;`)
      .join("\n")}
    ${wider.map((name) => `true satisfies Fits<keyof written.${name}, keyof derived.${name}>;`).join("\n")}`;
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const options = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--allowImportingTsExtensions",
    "--module",
    "preserve",
  ];
  const check = async (text: string) => {
    await Bun.write(join(folder.path, "same.ts"), text);
    return run("node", tsc, ...options, "--target", "esnext", "--types", "", "same.ts");
  };
  expect(await check(program)).toBe("");
  await expect(check("import type { Plan } from 'assay-client'; true satisfies Plan;")).rejects.toThrow(
    "Plan",
  );
});

test("it has no dependency, and nothing but modules, types, licence and README in it", async () => {
  const installed = join(folder.path, "node_modules/assay-client");
  const { dependencies, exports, type } = await Bun.file(join(installed, "package.json")).json();
  expect([dependencies, type, exports["."].types]).toEqual([undefined, "module", "./dist/index.d.ts"]);
  const files = [...new Bun.Glob("**/*").scanSync({ cwd: installed })];
  expect(
    files.filter((file) => !/^(dist\/[\w-]+\.(js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(file)),
  ).toEqual([]);
});
