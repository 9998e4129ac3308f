import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { EMAIL_SUB_STATUSES } from "../../src/email/email-verification.ts";
import { REASONS } from "../../src/email/reasons.ts";
import { SYNTAX_FAULTS } from "../../src/email/syntax-fault.ts";
import { ERRORS } from "../../src/errors.ts";
import { startTestServer } from "../support/server.ts";

setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, "../..");
const readme = await Bun.file(join(ROOT, "README.md")).text();

/** The cells of the first column of the table whose head begins with `head`, without their code marks. */
function firstColumn(head: string): string[] {
  const from = readme.indexOf(`| ${head} |`);
  if (from === -1) throw new Error(`README has no table | ${head} |`);
  const end = readme.indexOf("\n\n", from);
  return [...readme.slice(from, end).matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1] ?? "");
}

describe("the tables", () => {
  test("list every setting with its default, and no other", async () => {
    const names = new Set<string>();
    readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }), 1);
    expect(firstColumn("name | default").toSorted()).toEqual([...names].toSorted());
    const source = await Bun.file(join(ROOT, "src/config.ts")).text();
    for (const [, name, fallback] of source.matchAll(/settings\.(?:integer|flag)\("([A-Z_]+)", ([\w]+)/g)) {
      if (fallback !== "cores")
        expect(readme).toContain(`| \`${name}\` | ${fallback?.replaceAll("_", "")} |`);
    }
  });

  test("list every error code with its status, and no other", () => {
    expect(firstColumn("code | status").toSorted()).toEqual(Object.keys(ERRORS).toSorted());
    for (const [code, { status }] of Object.entries(ERRORS))
      expect(readme).toContain(`| \`${code}\` | ${status} |`);
  });

  test("list every sub-status, reason and fault of an email result, and no other", () => {
    expect(firstColumn("sub_status | status").toSorted()).toEqual([...EMAIL_SUB_STATUSES].toSorted());
    const reasons = [...firstColumn("reason | points"), ...firstColumn("fault | meaning")];
    expect(reasons.toSorted()).toEqual(Object.keys(REASONS).toSorted());
    expect(firstColumn("fault | meaning")).toEqual([...SYNTAX_FAULTS]);
  });

  test("list every route, and no other", async () => {
    await using server = await startTestServer();
    const specification = (await (await server.call("/openapi.json")).json()) as {
      paths: { [path: string]: { [method: string]: unknown } };
    };
    const served = Object.entries(specification.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(firstColumn("route | what it does").toSorted()).toEqual([...served, "GET /docs"].toSorted());
  });
});
