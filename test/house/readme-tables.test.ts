import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import packageFile from "../../package.json" with { type: "json" };
import { readConfig } from "../../src/app/settings.ts";
import { formatUsdFixed } from "../../src/billing/money.ts";
import { DEFAULT_PLANS } from "../../src/billing/plans.ts";
import { EXIT } from "../../src/cli/failure.ts";
import { ChangesQuery, DirectoryQuery } from "../../src/contract/directory-schemas.ts";
import { REASONS } from "../../src/contract/email-reasons.ts";
import { ERRORS } from "../../src/contract/errors.ts";
import { InvoicesQuery, RotateBody } from "../../src/contract/result-schemas.ts";
import { ERROR_MEANINGS } from "../../src/contract/specification/document/refusals.ts";
import {
  DOCUMENT_TYPES,
  EMAIL_SUB_STATUSES,
  IDENTITY_REASONS,
  IDENTITY_STRENGTHS,
  IDENTITY_WARNINGS,
  PART_BYTES_MAX,
  PHONE_REASONS,
  SYNTAX_FAULTS,
  WEBHOOK_EVENTS,
} from "../../src/contract/words.ts";
import { SMALL_BODY_BYTES_MAX } from "../../src/http/bodies/request-body.ts";
import { IDLE_TIMEOUT_SECONDS } from "../../src/http/served-call.ts";
import { RECORD_BYTES_MAX } from "../../src/jobs/intake/records.ts";
import { ARRIVING } from "../../src/jobs/uploads/part-rules.ts";
import { PARTS_MAX } from "../../src/jobs/uploads/uploads.ts";
import { JUDGE_RULES } from "../../src/judge/judgement.ts";
import { DAY_MS } from "../../src/platform/days.ts";
import { CHECKS } from "../../src/scan/check-list.ts";
import { TEST_ADDRESSES } from "../../src/test-keys/test-addresses.ts";
import { documents } from "../../src/verification/documents/all-documents.ts";
import { ibanCountries } from "../../src/verification/documents/iban-country.ts";
import { nationalRules } from "../../src/verification/documents/iban-national-check.ts";
import { vatRules } from "../../src/verification/documents/vat.ts";
import { SCORE_BANDS, SCORING } from "../../src/verification/email/scoring.ts";
import { ATTACK_HEAD, FLOORS, figuresOf } from "../support/attack-table.ts";
import { ATTACKS } from "../support/attacks.ts";
import { anchorsOf, codesIn, inlineCodesOf, readPages, type Table, tablesOf } from "../support/readme.ts";
import { startFileServer } from "../support/server.ts";
import { readSpecification } from "../support/specification.ts";
import { hasTitle } from "../support/test-titles.ts";

/**
 * Every table of the README and of the pages of src/docs is held against what the code knows, row by row and both ways. A table that nothing is
 * held against fails.
 */

const ROOT = join(import.meta.dir, "../..");
const HOUR_MS = 3_600_000;
const pages = readPages();
const BENCH = /<!-- bench:begin -->\n([\s\S]*?)<!-- bench:end -->/;
const bench = pages.flatMap(({ text }) => BENCH.exec(text)?.[1] ?? []).join("");
const readme = pages.map(({ text }) => text).join("\n\n");
const source = (path: string) => Bun.file(join(ROOT, path)).text();

const server = await startFileServer();
const specification = await readSpecification(server);

type Rows = Table["rows"];

/** A number that a source names, read as it stands there, a product of numbers and days: not all are exported. */
async function constant(path: string, name: string): Promise<number> {
  const value = new RegExp(`const ${name} = ((?:[\\d_ *]|DAY_MS)+);`).exec(await source(path))?.[1];
  if (value === undefined) throw new Error(`${path} has no ${name}`);
  return value
    .replaceAll("DAY_MS", `${DAY_MS}`)
    .replaceAll("_", "")
    .split("*")
    .reduce((product, factor) => product * Number(factor), 1);
}

/** Whole rows, in any order. */
function expectRows(rows: Rows, expected: Rows): void {
  expect(rows.toSorted()).toEqual(expected.toSorted());
}

/** The words between backticks in the first column, in any order. */
function expectNames(rows: Rows, expected: readonly string[]): void {
  expect(rows.flatMap(([name = ""]) => codesIn(name)).toSorted()).toEqual(expected.toSorted());
}

const code = (text: string) => `\`${text}\``;
const thousands = (count: number) => count.toLocaleString("en");

/** Each table by its head. */
const HELD: { readonly [head: string]: (rows: Rows) => void | Promise<void> } = {
  "check | weight | what is expected | how to get there": (rows) =>
    expectRows(
      rows,
      CHECKS.map(({ id, weight, expected, fix }) => [code(id), `${weight}`, expected, fix]),
    ),

  "rule | severity | off 100 | meaning": (rows) =>
    expectRows(
      rows,
      JUDGE_RULES.map(({ code: name, severity, points, message }) => [
        code(name),
        severity,
        `${points}`,
        message,
      ]),
    ),

  "exit code | meaning": async (rows) => {
    const codes = rows.flatMap(([names = ""]) => names.split(", ").map(Number));
    expect(codes.toSorted()).toEqual(Object.values(EXIT).toSorted());
    const unchecked = rows.find(([name]) => Number(name) === EXIT.someUnchecked)?.[1] ?? "";
    for (const word of codesIn(unchecked)) expect([...EMAIL_SUB_STATUSES] as string[]).toContain(word);
  },

  "test address of | the address": (rows) =>
    expectRows(
      rows,
      TEST_ADDRESSES.map(({ subStatus, address }) => [code(subStatus), code(address)]),
    ),

  "route | what it does | needs": (rows) => {
    const served = specification.operations.map(({ method, path, summary, security }) => [
      code(`${method} ${path}`),
      summary ?? "",
      security.length > 0 ? "key" : "",
    ]);
    expectRows(rows, [...served, [code("GET /docs"), "A page to read this and try it", ""]]);
  },

  "code | status | meaning": (rows) =>
    expectRows(
      rows,
      ERROR_MEANINGS.map(({ code: name, status, meaning }) => [code(name), `${status}`, meaning]),
    ),

  "what | limit | past it": async (rows) => {
    const { batch, limits, dns } = readConfig({}, 1);
    const { limit: invoices } = InvoicesQuery.properties;
    const { limit: listings } = DirectoryQuery.properties;
    const { limit: changes } = ChangesQuery.properties;
    const idempotency = "src/billing/idempotency.ts";
    const csvRecords = "src/jobs/intake/csv-records.ts";
    const keptHours = (await constant(idempotency, "KEPT_MS")) / 3_600_000;
    const expected = [
      ["calls with a key; items of a batch", "those of the plan"],
      [
        "calls without a key, from one address",
        `${limits.publicRequestsPerSecond} a second (\`PUBLIC_REQUESTS_PER_SECOND\`)`,
      ],
      [
        "signups, from one address",
        `${limits.signupsPerMinute} a minute, ${limits.signupsPerMinute * 2} at once (\`SIGNUPS_PER_MINUTE\`)`,
      ],
      ["a body of anything but a batch", `${SMALL_BODY_BYTES_MAX} bytes`],
      [
        "values in such a body, names of fields and what they hold as one",
        `${await constant("src/http/bodies/request-body.ts", "VALUES_MAX")}`,
      ],
      ["a body of a batch", `${batch.bodyBytesMax} bytes (\`BODY_BYTES_MAX\`)`],
      [
        "a body of a batch on a plan",
        `${await constant("src/billing/plans.ts", "ITEM_BODY_BYTES_MAX")} bytes for each item of its largest batch, and ${await constant("src/billing/plans.ts", "BODY_BASE_BYTES")}`,
      ],
      [
        `bodies of batches over ${SMALL_BODY_BYTES_MAX} bytes, being received and chunked, together`,
        `${batch.heldBodyBytesMax} bytes (\`BODIES_BYTES_MAX\`)`,
      ],
      [
        "what replies leave unread of bodies, for one account or address",
        `${await constant("src/http/unread-bodies.ts", "BYTES_PER_MS")} bytes a millisecond, ${await constant("src/http/unread-bodies.ts", "BYTES_AT_ONCE")} at once`,
      ],
      ["batches at a time", `${batch.inFlightMax} (\`BATCHES_IN_FLIGHT_MAX\`)`],
      ["charges that wait for the disk", `${await constant("src/billing/meter.ts", "WAITING_MAX")}`],
      ["rows of a job; jobs of an account that have not ended", "those of the plan"],
      ["the input of a job, decoded", `${await constant("src/app/jobs.ts", "INPUT_BYTES_MAX")} bytes`],
      ["a row of it", `${RECORD_BYTES_MAX} bytes`],
      ["its columns", `${await constant(csvRecords, "COLUMNS_MAX")}`],
      ["the names of its columns, as JSON", `${await constant(csvRecords, "NAMES_BYTES_MAX")} bytes`],
      ["a part of an input, decoded; its parts", `${PART_BYTES_MAX} bytes; ${PARTS_MAX}`],
      ["parts of inputs that arrive at a time", `${ARRIVING.capacity}`],
      ["streams of events of jobs", `${await constant("src/http/jobs/job-events.ts", "STREAMS_MAX")}`],
      ["downloads of results", `${await constant("src/http/reader-places.ts", "READERS_MAX")}`],
      [
        "exports of the directory that are being read",
        `${await constant("src/http/reader-places.ts", "READERS_MAX")}`,
      ],
      ["an address", `${await constant("src/verification/email/address.ts", "ADDRESS_OCTETS_MAX")} octets`],
      [
        "a document number",
        `${await constant("src/verification/documents/alphabet.ts", "VALUE_CHARACTERS_MAX")} characters`,
      ],
      [
        "a phone number",
        `${await constant("src/verification/phone/phone-text.ts", "LENGTH_MAX")} characters`,
      ],
      ["look-ups of one check", `${dns.requestTimeoutMs} ms (\`DNS_REQUEST_TIMEOUT_MS\`)`],
      ["look-ups of one batch", `${batch.lookupTimeoutMs / 1000} s (\`BATCH_DNS_TIMEOUT_SECONDS\`)`],
      [
        "an `Idempotency-Key`",
        `${/\{1,(\d+)\}/.exec(await source("src/billing/call-fingerprint.ts"))?.[1]} characters`,
      ],
      ["calls under one, at a time", `${await constant(idempotency, "RUNNING_MAX")}`],
      [
        "replies kept for them",
        `${keptHours} hours, ${limits.keptReplyBytesMax} bytes together (\`KEPT_REPLIES_BYTES_MAX\`), one account eight times what is free, and a ${await constant(idempotency, "ACCOUNTS_GUARANTEED")}th part (4 MB) whatever others keep, up to a quarter more together`,
      ],
      ["days of a usage report", `${await constant("src/accounts/usage-report.ts", "DAYS_MAX")}`],
      [
        "a page of invoices; of listings; of changes",
        [invoices, listings, changes].map(({ maximum }) => maximum).join("; "),
      ],
      ["overlap of a rotated key", `${RotateBody.properties.overlap_seconds.maximum} s`],
      ["silence of a caller", `${IDLE_TIMEOUT_SECONDS} s`],
      ["a reader that takes nothing", `${batch.readerStallMs / 1000} s (\`READER_STALL_SECONDS\`)`],
    ];
    expectRows(
      rows.map((cells) => cells.slice(0, 2)),
      expected,
    );
    const words: readonly string[] = [...Object.keys(ERRORS), ...Object.keys(REASONS), ...PHONE_REASONS];
    const named = rows.flatMap((cells) => codesIn(cells[2] ?? ""));
    expect(named.filter((word) => !words.includes(word) && word !== "length")).toEqual([]);
  },

  "status | score | meaning": (rows) => {
    const bands = Object.entries(SCORE_BANDS).map(([status, [least, most]]) => {
      // The contract's band for risky begins at 1; no finding leads below 20.
      const band = status === "risky" ? `1–${most} (lowest given: ${least})` : `${least}–${most}`;
      return [code(status), least === most ? `${most}` : band];
    });
    expectRows(
      rows.map((cells) => cells.slice(0, 2)),
      bands,
    );
  },

  "elsewhere | where | here": (rows) => {
    const words: readonly string[] = [...Object.keys(SCORE_BANDS), ...EMAIL_SUB_STATUSES];
    const named = rows.flatMap((cells) => codesIn(cells.at(-1) ?? ""));
    expect(named.filter((word) => !words.includes(word))).toEqual([]);
  },

  "sub_status | status | meaning": (rows) => {
    const decided = new Map<string, string>(
      SCORING.map(({ finding, decides }) => [finding, decides ?? "deliverable"]),
    );
    const others = { accepts_mail: "deliverable", invalid_syntax: "undeliverable", check_failed: "unknown" };
    for (const [name, status] of Object.entries(others)) decided.set(name, status);
    expectRows(
      rows.map((cells) => cells.slice(0, 2)),
      EMAIL_SUB_STATUSES.map((name) => [code(name), decided.get(name) ?? ""]),
    );
    expectMeanings(rows);
  },

  "reason | points | meaning": (rows) => {
    const findings = Object.keys(REASONS).filter(
      (name) => !(SYNTAX_FAULTS as readonly string[]).includes(name),
    );
    expectNames(rows, findings);
    expectMeanings(rows);
    for (const { finding, points } of SCORING) {
      const shown = rows.find(([name]) => name === code(finding))?.[1] ?? "";
      const [, least = "0", most = least] = /^(?:(\d+) to )?(\d+)$/.exec(shown) ?? [];
      const isGraded = finding === "gibberish" || finding === "gibberish_suspected";
      if (isGraded) expect([finding, Number(most), Number(least) < points]).toEqual([finding, points, true]);
      else if (points < 0) expect(shown).toBe(`adds ${-points}`);
      else expect([finding, shown]).toEqual([finding, points === 100 ? "all" : `${points}`]);
    }
  },

  "fault | meaning": (rows) => {
    expect(rows.map(([name]) => name)).toEqual(SYNTAX_FAULTS.map(code));
    expectMeanings(rows);
  },

  "type | what is checked | `strength` | `data_version`": (rows) => {
    expect(rows.map(([type]) => type)).toEqual(DOCUMENT_TYPES.map(code));
    const words: readonly string[] = [...IDENTITY_REASONS, ...IDENTITY_STRENGTHS];
    for (const [type = "", checked = "", strength = "", version] of rows) {
      const { unread } = documents[codesIn(type)[0] as keyof typeof documents];
      expect([...codesIn(checked), ...codesIn(strength)].filter((word) => !words.includes(word))).toEqual([]);
      if (type !== "`vat`") expect([type, strength]).toEqual([type, code(unread.strength)]);
      expect([type, version === "–"]).toEqual([type, unread.data_version === null]);
    }
    const checkedOf = (type: string) => rows.find(([name]) => name === code(type))?.[1] ?? "";
    expect(checkedOf("iban")).toContain(`(${ibanCountries.length} countries)`);
    const national = /digits of ((?:[A-Z]{2} )+)/.exec(checkedOf("iban"))?.[1] ?? "";
    expect(national.trim().split(" ").toSorted()).toEqual([...nationalRules.keys()].toSorted());
    const listed = checkedOf("vat").match(/\b[A-Z]{2}\b(?!-27)/g) ?? [];
    expect(new Set([...listed, ...EU_27].toSorted())).toEqual(
      new Set(vatRules.map(({ prefix }) => prefix.slice(0, 2)).toSorted()),
    );
  },

  "reason | means": (rows) => expectNames(rows, PHONE_REASONS),

  "plan | monthly | included units | overage per unit | calls a second | burst | max batch | max job | jobs at a time":
    (rows) =>
      expect(rows).toEqual(
        DEFAULT_PLANS.map((plan) => [
          code(plan.plan),
          formatUsdFixed(plan.monthlyPriceMicroUsd, 2),
          thousands(plan.includedUnits),
          plan.overagePriceMicroUsd === null ? "–" : formatUsdFixed(plan.overagePriceMicroUsd, 6),
          ...[plan.requestsPerSecond, plan.burst, plan.maxBatchSize, plan.maxJobSize, plan.maxJobs].map(
            thousands,
          ),
        ]),
      ),

  "route | answers": (rows) => {
    const operations = specification.operations.filter(
      ({ path }) => path.startsWith("/v1/directory") || path === "/v1/changes",
    );
    expectNames(
      rows,
      operations.map(({ method, path }) => `${method} ${path}`),
    );
    const list = rows.find(([route]) => route === "`GET /v1/directory`")?.[1] ?? "";
    expect(codesIn(list).toSorted()).toEqual(Object.keys(DirectoryQuery.properties).toSorted());
    const { minimum, maximum, default: usual } = DirectoryQuery.properties.limit;
    expect(list).toContain(`\`limit\` (${minimum}–${maximum}, default ${usual})`);
    const feed = rows.find(([route]) => route === "`GET /v1/changes`")?.[1] ?? "";
    const { limit } = ChangesQuery.properties;
    expect(feed).toContain(`\`limit\` ${limit.minimum}–${limit.maximum} (default ${limit.default})`);
  },

  "name | default | meaning": async (rows) => {
    const asked = new Set<string>();
    readConfig(new Proxy({}, { get: (_, name) => void asked.add(String(name)) }), 1);
    const text = await source("src/app/settings.ts");
    const inCode = (name: string) => {
      const [, kind, literal] = new RegExp(`settings\\.(\\w+)\\("${name}"(?:, ([^,)]+))?`).exec(text) ?? [];
      if (kind === "servers") return "the system's";
      if (literal === "cores") return "the cores";
      if (literal === undefined || kind === "plans") return "–";
      return literal.replaceAll('"', "").replace(/^[\d_]+$/, (digits) => digits.replaceAll("_", ""));
    };
    expectRows(
      rows.map((cells) => cells.slice(0, 2)),
      [...asked].map((name) => [code(name), inCode(name)]),
    );
  },

  "what | where | until": async (rows) => {
    const untilOf = (start: string) => rows.find(([what = ""]) => what.startsWith(start))?.[2];
    const keptHours = (await constant("src/billing/idempotency.ts", "KEPT_MS")) / HOUR_MS;
    const uploadHours = (await constant("src/app/jobs.ts", "UPLOAD_MS")) / HOUR_MS;
    const eventDays = (await constant("src/webhooks/old-deliveries.ts", "KEPT_MS")) / DAY_MS;
    const { retentionMs } = readConfig({}, 1).jobs;
    const dnsHours = (await constant("src/dns/cache.ts", "POSITIVE_CAP_MS")) / HOUR_MS;
    expect(untilOf("the reply to a call")).toBe(`${keptHours} hours after the call`);
    expect(untilOf("parts of a job")).toStartWith(`${uploadHours} hours `);
    expect(untilOf("events sent")).toStartWith(`${eventDays} days `);
    expect(untilOf("the input and the results")).toStartWith(`${retentionMs / DAY_MS} days `);
    expect(untilOf("what the DNS said")).toStartWith(`${dnsHours} hours `);
  },

  "event | when | data": (rows) => expectNames(rows, WEBHOOK_EVENTS),

  "command | does": async (rows) => {
    const help = /const HELP = `([^`]+)`/.exec(await source("src/tools/build/executable.ts"))?.[1] ?? "";
    expectNames(
      rows,
      help
        .trim()
        .split("\n")
        .map((line) => line.split(/ {2,}/)[0] ?? ""),
    );
  },

  "metric | type | meaning": async (rows) => {
    const text = await (await server.call("/metrics")).text();
    const types = new Map(
      [...text.matchAll(/^# TYPE (assay_\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]),
    );
    const served = [...text.matchAll(/^# HELP (assay_\w+) (.+)$/gm)].map(([, name = "", help = ""]) => [
      code(name),
      types.get(name) ?? "",
      help,
    ]);
    expectRows(rows, served);
  },

  "what is injected | what holds | shown by": async (rows) => {
    const filesOf = (folder: string) =>
      readdirSync(join(ROOT, "test", folder)).filter((name) => name.endsWith(".test.ts"));
    const plain = (file: string) => file.replace(/(?:\.(?:timing|slow|property))*\.test\.ts$/, "");
    const shown = rows.map(([fault = "", , cell = ""]) => {
      const [, path = "", title = ""] = /^`([\w-]+\/[\w-]+)` (.+)$/.exec(cell) ?? [];
      return { fault, path, title };
    });
    for (const { path, title } of shown) {
      const [folder = "", name] = path.split("/");
      const file = filesOf(folder).find((each) => plain(each) === name);
      expect([path, file]).toEqual([path, expect.any(String)]);
      expect([path, title, hasTitle(await source(`test/${folder}/${file}`), title)]).toEqual([
        path,
        title,
        true,
      ]);
    }
    const faults = filesOf("faults").map((name) => `faults/${plain(name)}`);
    expect(faults.filter((path) => shown.every((each) => each.path !== path))).toEqual([]);
    const attacks = shown.filter(({ path }) => path === "faults/tenants-shares");
    expect(attacks.map(({ fault }) => fault)).toEqual(ATTACKS.map(({ name }) => name));
  },

  [ATTACK_HEAD.join(" | ")]: (rows) => {
    expect(rows.map(([attack]) => attack)).toEqual(ATTACKS.map(({ name }) => name));
    for (const [attack, singles = "", batches = "", , memory = "", verdict] of rows) {
      const within = [singles, batches].map((cell) => {
        const [alone, beside] = figuresOf(cell);
        return beside <= Math.max(3 * alone, FLOORS.singlesMs);
      });
      expect([attack, verdict]).toEqual([attack, within.every(Boolean) ? "held" : "**not held**"]);
      expect(Math.max(...figuresOf(memory))).toBeLessThanOrEqual(1200);
    }
  },

  "command | what it does | takes": (rows) => {
    const scripts = Object.keys(packageFile.scripts).filter((name) => name.startsWith("bench"));
    expectNames(
      rows,
      scripts.map((name) => `bun run ${name}`),
    );
  },
};

/** Tables of what was measured once, which no file holds. */
const MEASURED = ["what | figure | limit"];

const EU_27 = "AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split(" ");

/** Where a word means the same as a reason, it is explained in the same words. */
function expectMeanings(rows: Rows): void {
  const own: readonly string[] = ["accepts_mail", "invalid_syntax"];
  for (const cells of rows) {
    const [name = ""] = codesIn(cells[0] ?? "");
    if (own.includes(name)) continue;
    expect([name, cells.at(-1)]).toEqual([name, REASONS[name as keyof typeof REASONS]]);
  }
}

test("the README has at most 300 lines", async () => {
  expect((await source("README.md")).split("\n").length).toBeLessThanOrEqual(300);
});

describe("every table of the README and the pages", () => {
  const tables = pages.flatMap(({ text }) => tablesOf(text.replace(BENCH, "")));
  const headOf = ({ head }: Table) => head.join(" | ");

  test("is held against the code, and each by one rule", () => {
    const known = [...Object.keys(HELD), ...MEASURED];
    expect(tables.map(headOf).toSorted()).toEqual(known.toSorted());
  });

  for (const table of tables.filter((each) => headOf(each) in HELD)) {
    test(`says what the code says: ${headOf(table)}`, async () => {
      expect(table.rows.length).toBeGreaterThan(2);
      await HELD[headOf(table)]?.(table.rows);
    });
  }

  test("of measurements is the one that the committed results make", async () => {
    const printed = Bun.spawnSync([process.execPath, "bench/readme.ts", "--print"], { cwd: ROOT });
    expect(bench.trim()).toBe(printed.stdout.toString().trim());
  });
});

describe("what the text of the README and the pages names", () => {
  const codes = inlineCodesOf(readme);
  const paragraph = (mark: string) => readme.slice(readme.indexOf(mark)).split("\n\n")[0] ?? "";

  test("are the warnings of documents, all of them", () => {
    const named = codesIn(paragraph("**Warnings** leave")).filter((word) => /^[a-z_]+$/.test(word));
    expect(named.toSorted()).toEqual([...IDENTITY_WARNINGS].toSorted());
  });

  test("are files and folders that exist", () => {
    const paths = codes.filter((text) => /^(?:src|test|bench|workers|\.ci|\.github)\/[\w./-]*$/.test(text));
    const links = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) => join(dirname(path), link)),
    );
    expect(paths.length).toBeGreaterThan(3);
    expect(links.length).toBeGreaterThan(15);
    expect([...paths, ...links].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test("are headings, where a link names one", () => {
    const anchors = new Set(
      pages.flatMap(({ path, text }) => anchorsOf(text).map((each) => `${path}#${each}`)),
    );
    const links = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(
        ([, file = "", anchor]) => `${file === "" ? path : join(dirname(path), file)}#${anchor}`,
      ),
    );
    expect(links.filter((link) => !anchors.has(link))).toEqual([]);
  });

  test("are all pages, from the README", () => {
    const [first, ...others] = pages;
    expect(others.filter(({ path }) => !first?.text.includes(`](${path})`))).toEqual([]);
  });

  test("are all error codes, each with its status, its meaning and what to do", () => {
    const page = pages.find(({ path }) => path === "src/docs/errors.md")?.text ?? "";
    const sections = page.split("\n## ").slice(1);
    expect(sections.map((section) => section.split("\n\n").slice(0, 2))).toEqual(
      ERROR_MEANINGS.map(({ code: name, status, meaning }) => [name, `Status ${status}. ${meaning}`]),
    );
    expect(sections.filter((section) => (section.split("\n\n")[2] ?? "").length < 20)).toEqual([]);
  });

  test("are options that a command has", async () => {
    const cli = Bun.spawnSync([process.execPath, "src/cli/main.ts", "--help"], { cwd: ROOT });
    const suites = await source("bench/suite.ts");
    const capacity = Bun.spawnSync([process.execPath, "bench/capacity/main.ts", "--help"], { cwd: ROOT });
    const scan = (await source("src/scan-command.ts")) + (await source("src/receipts-command.ts"));
    const files = ["src/tools/cluster/main.ts", "src/demo/main.ts", "bench/cluster/main.ts"];
    const others = (await Promise.all(files.map(source))).join("");
    const known = new Set([
      ...((cli.stdout.toString() + capacity.stdout.toString() + others).match(/--[a-z][a-z-]+/g) ?? []),
      ...[...(suites + scan).matchAll(/^ +"?([a-z][a-z-]+)"?: \{ type: "/gm)].map(([, name]) => `--${name}`),
    ]);
    const own = readme.replace(/^.*\b(?:curl|npx|npm|bun install)\b.*$/gm, "");
    const named = own.match(/(?<=[ `])--[a-z][a-z-]+/g) ?? [];
    expect(named.length).toBeGreaterThan(10);
    // Those of other programs, and of the subcommands, whose help the test of the command line reads.
    const unread = ["--type", "--country", "--frozen-lockfile"];
    expect(named.filter((name) => !known.has(name) && !unread.includes(name))).toEqual([]);
  });

  test("are commands, each of which installs what is missing or says why it cannot", () => {
    const named = new Set([...readme.matchAll(/\bbun run ([a-z][a-z:-]*)/g)].map(([, name = ""]) => name));
    const scripts = new Map(Object.entries<string>(packageFile.scripts));
    const unready = [...named].filter((name) => !scripts.get(name)?.startsWith("bun src/tools/prepare.ts "));
    expect(unready).toEqual([]);
  });

  test("are settings that there are", async () => {
    const files = readdirSync(join(ROOT, "src/app")).filter((file) => file.endsWith("settings.ts"));
    const text = (await Promise.all(files.map((file) => source(`src/app/${file}`)))).join("");
    const settings = codes.filter((word) => /^[A-Z]+(?:_[A-Z]+)+(?:=.*)?$/.test(word));
    // The last is a constant of the code.
    const outside = ["ASSAY_API_KEY", "ASSAY_URL", "BENCH_DIR", "MIMALLOC_PURGE_DELAY", "DOCUMENT_TYPES"];
    const unknown = settings.filter((word) => {
      const name = word.replace(/=.*/, "");
      return !text.includes(`"${name}"`) && !outside.includes(name);
    });
    expect(unknown).toEqual([]);
  });
});
