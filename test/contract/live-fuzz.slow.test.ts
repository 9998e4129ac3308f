import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { BORDER_VALUES, BORDER_WORDS } from "../support/border-values.ts";
import { drawnFrom, type JsonValue } from "../support/drawn-values.ts";
import { OPERATIONS } from "../support/operations.ts";
import { temporaryFolder } from "../support/process.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import {
  type Operation,
  type Parameter,
  readSpecification,
  type Schema,
  type Specification,
} from "../support/specification.ts";

/**
 * What the specification allows is what the server takes, and the other way round, on the live server: calls that are
 * drawn from the specification, and calls that are drawn near its borders, are refused as invalid exactly where a
 * validator of the specification says so. What no schema can say is in `RULES`, each with the words that document it.
 */

setDefaultTimeout(60_000);

/** Calls for each operation and each of the two ways of drawing. `FUZZ_RUNS=500` for more. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 40);
/** The same calls in every run of the gate. `FUZZ_SEED=0` for others. */
const SEED = Number(process.env.FUZZ_SEED ?? 2026);
/** Calls of one account, before another is signed up: some acts are bounded for an account, or end its key. */
const CALLS_PER_ACCOUNT = 12;

/** Refusals for what no schema can say: the message, and where readers find it. */
const RULES: readonly { readonly of: string; readonly message: RegExp; readonly says: string }[] = [
  { of: "getUsage", message: /^from \(\S+\) must not be after to/, says: "not after the last" },
  { of: "getUsage", message: /^from and to may span at most 366 days/, says: "At most 366 days" },
  { of: "getUsage", message: /^(?:from|to) must be a date such as/, says: "A day that there is" },
  {
    of: "listInvoices",
    message: /^starting_after must be the next_cursor/,
    says: "The `next_cursor` of the page before",
  },
  { of: "listListings", message: /^cursor /, says: "The `next_cursor` of the page before" },
  { of: "listChanges", message: /^cursor /, says: "The `next_cursor` of the page before" },
  { of: "createKey", message: /^expires_at must be a moment to come/, says: "A moment to come" },
  {
    of: "createWebhook",
    message: /^url must be an https address/,
    says: "An https address with a public name",
  },
  {
    of: "changeWebhook",
    message: /^url must be an https address/,
    says: "An https address with a public name",
  },
  { of: "listJobs", message: /^starting_after is no job/, says: "The id of the last job of the page before" },
  {
    of: "createJob",
    message: /^encoding is no known encoding/,
    says: "A label of the WHATWG Encoding Standard",
  },
  {
    of: "createJob",
    message: /^With upload=parts the (?:items|input)/,
    says: "the call has no body or JSON with options",
  },
  {
    of: "createJob",
    message: /^webhook_url (?:must be an https address|is signed with the secret)/,
    says: "An https address that receives the events of this job alone, signed with the secret of the account's first webhook.",
  },
  {
    of: "createJob",
    message: /^items\[\d+\]/,
    says: "Addresses or phone numbers as strings, documents as strings or objects.",
  },
];

let server: TestServer;
let specification: Specification;
let folder: ReturnType<typeof temporaryFolder>;
let isAllowed: (schema: Schema, value: unknown) => boolean;

beforeAll(async () => {
  folder = temporaryFolder("fuzz");
  const plansFile = join(folder.path, "plans.json");
  await Bun.write(plansFile, JSON.stringify(plansWithoutLimits()));
  server = await startTestServer({
    environment: { PLANS_FILE: plansFile, PUBLIC_REQUESTS_PER_SECOND: "1000000" },
  });
  specification = await readSpecification(server);
  const ajv = new Ajv2020({ strict: false, validateFormats: true });
  addFormats.default(ajv);
  const { components } = specification.document as { components: unknown };
  const text = JSON.stringify({ components }).replaceAll('"#/', '"specification#/');
  ajv.addSchema({ $id: "specification", ...JSON.parse(text) });
  const checks = new Map<Schema, (value: unknown) => boolean>();
  isAllowed = (schema, value) => {
    const known =
      checks.get(schema) ??
      ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"specification#/')));
    checks.set(schema, known);
    return known(value) === true;
  };
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Those that end a key, which every call after it would be refused with, take an account for each call. */
const ENDS_KEYS = new Set(["rotateKey"]);
/** Endless or of the machine's own: a stream of events, measurements, the specification itself. */
const LEFT_OUT = new Set(["jobEvents", "getMetrics", "getSpecification", "exportListings"]);

const fuzzed = OPERATIONS.filter(({ operationId }) => !LEFT_OUT.has(operationId));

/** A text of the query, several of them where it is repeated; undefined where it is left out. */
type QueryTexts = { readonly [name: string]: readonly string[] | undefined };
type DrawnCall = { readonly query: QueryTexts; readonly body?: JsonValue | undefined };

describe.each(fuzzed.map(({ operationId }) => [operationId] as const))("%s", (operationId) => {
  test("takes what the specification allows", async () => {
    const operation = specification.operation(operationId);
    await holds(
      operation,
      drawnCall(operation, (schema) => drawnFrom(schema, specification.schema)),
    );
  });

  test("takes and refuses near the borders what the specification does", async () => {
    const operation = specification.operation(operationId);
    await holds(operation, drawnCall(operation, nearBorders, { isNear: true }));
  });
});

const WORDS = [
  ...BORDER_WORDS,
  ...["+55", "br", "ZZ", "2026-11-20", "2026-02-30", "2026-11-20T10:00:00Z", "2026-1-1"],
  ...["https://good.com/x", "http://x", "\u{1d4b3}".repeat(150), "\ud800"],
];
const VALUES: readonly JsonValue[] = [
  ...BORDER_VALUES,
  ...WORDS.slice(BORDER_WORDS.length),
  ...[1e300, ["verify"], [null], [{ value: "x" }]],
];

/** Draws values that a schema may allow or not. */
function nearBorders(): fc.Arbitrary<JsonValue> {
  return fc.constantFrom(...VALUES);
}

function drawnCall(
  operation: Operation,
  draw: (schema: Schema) => fc.Arbitrary<JsonValue>,
  { isNear = false }: { readonly isNear?: boolean } = {},
): fc.Arbitrary<DrawnCall> {
  const text = (value: JsonValue) => (typeof value === "object" ? JSON.stringify(value) : `${value}`);
  const texts = (parameter: Parameter) => {
    const one = (isNear ? fc.constantFrom(...WORDS) : draw(parameter.schema)).map(text).map(encodable);
    const given = fc.oneof(
      { weight: 4, arbitrary: one.map((value) => [value]) },
      { weight: isNear ? 1 : 0, arbitrary: fc.tuple(one, one) },
    );
    const left = {
      weight: parameter.required === true && !isNear ? 0 : 2,
      arbitrary: fc.constant(undefined),
    };
    return fc.oneof({ weight: 3, arbitrary: given }, left);
  };
  const query = fc.record(Object.fromEntries(queryOf(operation).map((one) => [one.name, texts(one)])));
  const schema = operation.requestBody?.content["application/json"]?.schema;
  if (schema === undefined) return query.map((drawn) => ({ query: drawn }));
  return fc.record({ query, body: isNear ? nearBody(schema, draw) : draw(schema) });
}

/** A body of which each field may be right, wrong, or left out; now and then no object at all. */
function nearBody(
  schema: Schema,
  draw: (schema: Schema) => fc.Arbitrary<JsonValue>,
): fc.Arbitrary<JsonValue> {
  const { properties = {} } = resolved(schema) as { properties?: { [name: string]: Schema } };
  const fields = Object.entries(properties).map(([name, inner]) => [
    name,
    fc.oneof(
      { weight: 2, arbitrary: drawnFrom(inner, specification.schema) },
      { weight: 1, arbitrary: draw(inner) },
    ),
  ]);
  const object = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  return fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: nearBorders() });
}

function resolved(schema: Schema): Schema {
  return typeof schema.$ref === "string" ? specification.schema(schema.$ref) : schema;
}

/** Half of a pair of surrogates cannot be sent in an address. */
const encodable = (text: string) => text.toWellFormed();

function queryOf(operation: Operation): readonly Parameter[] {
  return operation.parameters.filter((parameter) => parameter.in === "query");
}

/** Sends the calls, and holds each reply against what a validator of the specification says of the call. */
async function holds(operation: Operation, calls: fc.Arbitrary<DrawnCall>): Promise<void> {
  const account = accounts(ENDS_KEYS.has(operation.operationId) ? 1 : CALLS_PER_ACCOUNT);
  await fc.assert(
    fc.asyncProperty(calls, async (drawn) => {
      const reply = await send(operation, drawn, await account(operation));
      const said = reply.status < 400 ? "" : await reply.text();
      if (reply.status < 400) await reply.body?.cancel();
      const { code = "", message = "" } = said.startsWith("{") ? (JSON.parse(said).error ?? {}) : {};
      const isInvalid = code === "invalid_request" || code === "invalid_json";
      const isTold = RULES.some((rule) => rule.of === operation.operationId && rule.message.test(message));
      if (isInvalid && isTold) return;
      const call = JSON.stringify(drawn).slice(0, 600);
      expect([call, `${reply.status} ${message}`, isInvalid]).toEqual([
        call,
        `${reply.status} ${message}`,
        !isCallAllowed(operation, drawn),
      ]);
    }),
    { numRuns: RUNS, ...(SEED === 0 ? {} : { seed: SEED }) },
  );
}

function isCallAllowed(operation: Operation, { query, body }: DrawnCall): boolean {
  const areParameters = queryOf(operation).every(({ name, required, schema }) => {
    const texts = query[name];
    if (texts === undefined) return required !== true;
    const [text = ""] = texts;
    return texts.length === 1 && readings(text).some((value) => isAllowed(schema, value));
  });
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return areParameters && (schema === undefined || isAllowed(schema, body));
}

/** What a text in a query may stand for: itself, a number in plain digits, or a flag. */
function readings(text: string): readonly unknown[] {
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return [text, Number(text)];
  return text === "true" || text === "false" ? [text, text === "true"] : [text];
}

async function send(
  operation: Operation,
  { query, body }: DrawnCall,
  key: string | undefined,
): Promise<Response> {
  const search = new URLSearchParams();
  for (const [name, texts] of Object.entries(query))
    for (const text of texts ?? []) search.append(name, text);
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => placeIn(operation, name));
  return server.call(search.size === 0 ? path : `${path}?${search}`, {
    method: operation.method,
    ...(key === undefined ? {} : { key }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** A value of a path that is allowed and leads nowhere. */
function placeIn({ parameters }: Operation, name: string): string {
  const schema = parameters.find((parameter) => parameter.name === name)?.schema ?? {};
  return schema.type === "integer" ? "1" : "none_such";
}

/** Returns a source of keys, which opens a new account every `callsMax` calls. */
function accounts(callsMax: number): (operation: Operation) => Promise<string | undefined> {
  let key = "";
  let calls = 0;
  return async ({ security }) => {
    if (security.length === 0) return undefined;
    if (calls % callsMax === 0) key = await server.signUp();
    calls += 1;
    return key;
  };
}

function plansWithoutLimits() {
  const plan = (name: string, price: string) => ({
    plan: name,
    monthly_price_usd: price,
    overage_unit_price_usd: "0.000400",
    included_units: 1_000_000,
    requests_per_second: 1_000_000,
    burst: 2_000_000,
    max_batch_size: 1000,
  });
  const plans = [
    plan("free", "0.00"),
    plan("starter", "29.00"),
    plan("growth", "149.00"),
    plan("scale", "749.00"),
  ];
  return { currency: "USD", plans };
}

test("what no schema can say is said to readers", () => {
  const untold = RULES.filter(
    ({ of, says }) =>
      !JSON.stringify(specification.operation(of)).includes(says) &&
      !bodyText(specification.operation(of)).includes(says),
  );
  expect(untold).toEqual([]);
});

function bodyText(operation: Operation): string {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return schema === undefined ? "" : JSON.stringify(resolved(schema));
}

test("an Idempotency-Key is taken where the specification allows it, and nowhere else", async () => {
  const { parameters } = specification.operation("verifyEmailPost");
  const schema = parameters.find(({ name }) => name === "Idempotency-Key")?.schema ?? {};
  const key = await server.signUp();
  const drawn = fc.sample(fc.string({ minLength: 1, maxLength: 40 }), { numRuns: 30, seed: 1 });
  const near = ["", '""', '"', '"a"', "a b", "\u00e9", "\u007f", "x".repeat(255), "x".repeat(256), "\\"];
  for (const [place, text] of [...drawn, ...near].entries()) {
    const reply = await server.call("/v1/email/verify", {
      key,
      headers: { "Idempotency-Key": `${text}` },
      body: { email: `a${place}@good.com` },
    });
    // Blanks around a value are not part of it.
    const isGood = isAllowed(schema, `${text}`.trim());
    expect([text, reply.status !== 400]).toEqual([text, isGood]);
  }
});
