import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { DEFAULT_PLANS, plansView } from "../../src/billing/plans.ts";
import { ERRORS } from "../../src/contract/errors.ts";
import { temporaryFolder } from "../support/process.ts";
import { type CallOptions, startTestServer, type TestServer } from "../support/server.ts";
import {
  type Operation,
  readSpecification,
  type Schema,
  type Specification,
} from "../support/specification.ts";

/**
 * Every operation of the specification is called with what it asks for, and with what nobody should send. No
 * call may be answered 500, in another way than documented, or late.
 */

const REPLY_DEADLINE_MS = 2000;
/** `FUZZ_RUNS=10000 bun test test/faults/fuzz.slow.test.ts` looks longer; a failure prints its seed. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 100);
/** `FUZZ_ONLY=account/keys,jobs,webhooks` calls the operations with these words in their path alone. */
const ONLY = (process.env.FUZZ_ONLY ?? "").split(",");
const TEST_TIMEOUT_MS = 120_000 + RUNS * 200;
/** A longer head of a call is answered 431 below the routes. */
const PATH_LENGTH_MAX = 14_000;
/** Plans of the callers: one soon at its hard stop, one soon too quick, and two that get on. */
const PLANS = ["free", "starter", "scale", "growth"];
/** Operations that change the account are called with accounts of their own. */
const CHANGES_ACCOUNT: ReadonlySet<string> = new Set(["rotateKey", "changePlan"]);

type Sent = { readonly path: string; readonly options: CallOptions };
type Json = fc.JsonValue;

test(
  "no call is answered otherwise than the specification says",
  async () => {
    using folder = temporaryFolder("fuzz");
    await using server = await startTestServer({
      environment: {
        PUBLIC_REQUESTS_PER_SECOND: "1000000",
        DNS_TIMEOUT_MS: "300",
        PLANS_FILE: writePlans(folder.path),
      },
    });
    const specification = await readSpecification(server);
    const keys = await Promise.all(PLANS.map((plan) => server.signUp(plan)));
    const places = await placesOf(server, keys);
    const statuses = new Map<number, number>();
    const operations = specification.operations.filter(({ path }) =>
      ONLY.some((word) => path.includes(word)),
    );
    for (const operation of operations) {
      const property = fc.asyncProperty(
        calls(operation, specification, places),
        fc.constantFrom(...keys),
        async (sent, key) => {
          const own = CHANGES_ACCOUNT.has(operation.operationId) ? await server.signUp() : key;
          const reply = await answer(server, operation, sent, own);
          statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          expect(faultsOf(specification, operation, reply)).toEqual([]);
        },
      );
      await fc.assert(property, { numRuns: RUNS });
    }
    expect(server.logged().filter(({ event }) => event === "bug")).toEqual([]);
    const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    process.stdout.write(
      `${all} calls of ${operations.length} operations: ${JSON.stringify(Object.fromEntries(statuses))}\n`,
    );
    for (const status of [200, 400]) expect(statuses.get(status)).toBeGreaterThan(RUNS);
    if (operations.length === specification.operations.length) {
      for (const status of [401, 402, 404, 415, 429]) expect([...statuses.keys()]).toContain(status);
    }
    const health = await server.call("/healthz");
    expect(health.status).toBe(200);
  },
  TEST_TIMEOUT_MS,
);

function writePlans(folder: string): string {
  const { currency, plans } = plansView(DEFAULT_PLANS);
  const own = plans.map((plan) => ({
    ...plan,
    ...(plan.plan === "free" ? { included_units: 5, requests_per_second: 10_000, burst: 10_000 } : {}),
    ...(plan.plan === "starter" ? { requests_per_second: 10, burst: 20 } : {}),
    ...(plan.plan === "scale" || plan.plan === "growth"
      ? { requests_per_second: 10_000, burst: 10_000 }
      : {}),
  }));
  const path = join(folder, "plans.json");
  writeFileSync(path, JSON.stringify({ currency, plans: own }));
  return path;
}

/** What stands in paths: ids of things that there are, by the names of the parameters. */
type Places = { readonly [name: string]: readonly string[] };

/** A job that has ended and a webhook with a delivery for each account, and uploads that wait for their parts. */
async function placesOf(server: TestServer, keys: readonly string[]): Promise<Places> {
  const made = async (key: string, path: string, options: CallOptions): Promise<{ [name: string]: string }> =>
    (await server.call(path, { key, method: "POST", ...options })).json() as Promise<{
      [name: string]: string;
    }>;
  const places: { [name: string]: string[] } = { host: ["scan.example", "SCAN.example."], part: ["1", "2"] };
  const note = (name: string, id: string | undefined) => {
    if (id === undefined) throw new Error(`there is no ${name}`);
    places[name] = [...(places[name] ?? []), id];
  };
  for (const key of keys) {
    const text = { body: "a@good.com\nb@good.com\n", headers: { "Content-Type": "text/plain" } };
    const job = await made(key, "/v1/jobs", text);
    await (await server.call(`/v1/jobs/${job.job_id}/events`, { key })).text();
    note("job_id", job.job_id);
    const upload = await made(key, "/v1/jobs?upload=parts", {});
    if (upload.job_id !== undefined) note("upload_id", upload.job_id);
    const webhook = await made(key, "/v1/webhooks", { body: { url: "https://hooks.good.com/in" } });
    note("webhook_id", webhook.webhook_id);
    note("delivery_id", (await made(key, `/v1/webhooks/${webhook.webhook_id}/test`, {})).delivery_id);
    note("key_id", (await made(key, "/v1/account/keys", { body: { scopes: ["read"] } })).key_id);
  }
  return places;
}

/** Operations of uploads that wait: the events of one never end. */
const IS_OF_UPLOADS = /^(?:putJobPart|startJob|getJob|deleteJob|jobResults|pauseJob|cancelJob)$/;

function placeIn(operation: Operation, places: Places): fc.Arbitrary<{ [name: string]: string }> {
  const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);
  const arbitraries = names.map((name) => {
    const uploads = name === "job_id" && IS_OF_UPLOADS.test(operation.operationId) ? places.upload_id : [];
    const known = [...(places[name] ?? []), ...(uploads ?? [])];
    const strange = STRANGE_TEXT.filter(isPathSegment).map(
      (text) => encodeURIComponent(wellFormed(text)) || "-",
    );
    if (known.length === 0) return [name, strange] as const;
    return [
      name,
      fc.oneof({ arbitrary: fc.constantFrom(...known), weight: 4 }, { arbitrary: strange, weight: 1 }),
    ] as const;
  });
  return fc.record(Object.fromEntries(arbitraries));
}

type Answer = {
  readonly status: number;
  readonly reply: Response;
  readonly body: string;
  readonly ms: number;
};

async function answer(
  server: TestServer,
  operation: Operation,
  { path, options }: Sent,
  key: string,
): Promise<Answer> {
  const started = performance.now();
  const hasKey = operation.security.length > 0 && options.key !== "";
  const reply = await server.call(path, { ...options, ...(hasKey ? { key } : {}) });
  const body = await reply.text();
  return { status: reply.status, reply, body, ms: performance.now() - started };
}

function faultsOf(
  specification: Specification,
  operation: Operation,
  { status, reply, body, ms }: Answer,
): string[] {
  const faults = [...specification.replyFaults(operation, reply, body)];
  if (status >= 500 && operation.operationId !== "getHealth") faults.push(`answered ${status}`);
  if (ms > REPLY_DEADLINE_MS) faults.push(`answered after ${Math.round(ms)} ms`);
  if (status >= 400 && status !== 503) {
    const { code } = (JSON.parse(body) as { error: { code: keyof typeof ERRORS } }).error;
    if (ERRORS[code].status !== status) faults.push(`${status} with the code ${code}`);
    const documented = Object.keys(
      operation.responses[status]?.content?.["application/json"]?.examples ?? {},
    );
    if (!documented.includes(code)) faults.push(`the code ${code} is not documented for ${status}`);
  }
  return faults;
}

/** Calls of an operation: most of them nearly right, so that they come past the first check. */
function calls(operation: Operation, specification: Specification, places: Places): fc.Arbitrary<Sent> {
  const query = operation.parameters.filter((parameter) => parameter.in === "query");
  const parameters = query.map(({ name, schema, required }) =>
    fc
      .option(inQuery(schema, specification), { freq: required === true ? 20 : 2 })
      .map((value) => (value === null ? [] : [[name, value] as const])),
  );
  return fc
    .record({
      query: fc.tuple(...parameters).map((pairs) => pairs.flat()),
      odd: fc.option(fc.tuple(STRANGE_TEXT, STRANGE_TEXT), { freq: 5 }),
      place: placeIn(operation, places),
      headers: headersOf(operation),
      body: bodyOf(operation, specification),
      hasKey: fc.integer({ min: 0, max: 19 }).map((n) => n > 0),
    })
    .map(({ query: pairs, odd, place, headers, body, hasKey }) => {
      const search = new URLSearchParams();
      for (const [name, value] of [...pairs, ...(odd === null ? [] : [odd])]) {
        search.append(wellFormed(name), wellFormed(value));
      }
      const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => place[name] ?? "-");
      return {
        path: search.size === 0 ? path : `${path}?${search}`,
        options: {
          method: operation.method,
          headers: { ...headers, ...body.headers },
          ...(body.body === undefined ? {} : { body: body.body }),
          ...(hasKey ? {} : { key: "" }),
        },
      };
    })
    .filter(({ path }) => path.length <= PATH_LENGTH_MAX);
}

/** An address of a URL cannot hold half of a surrogate pair; bodies can. */
const wellFormed = (text: string): string => text.toWellFormed();

/** These two are steps through the path: the call would be of another operation. */
const isPathSegment = (text: string): boolean => text !== "." && text !== "..";

/** What breaks programs: prototype keys, other scripts, control characters, numbers at the edge, length. */
const STRANGE_TEXT = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "null",
    "undefined",
    "NaN",
    "-1",
    "1e309",
    "9007199254740993",
    "99999999999999999999999",
    "0x10",
    "true",
    "",
    " ",
    "\0",
    "\ud800",
    "\u202egmail.com@a",
    "%00%ff",
    "a@b@c",
    "İ@ß.com",
    "１２３４５６７８９０",
    "👩‍👩‍👧‍👦@x.com",
    "2026-02-30",
    "'; DROP TABLE account; --",
    "../../etc/passwd",
    "{{7*7}}",
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.integer({ min: 200, max: 5000 }).map((length) => "x".repeat(length)),
);

/** What looks like what is checked here. */
const LIKELY_TEXT = fc.oneof(
  fc.emailAddress(),
  fc.constantFrom("a@good.com", "info@null.com", "a@servfail.com", "jane..doe@gmail.com", "a@implicit.com"),
  fc.constantFrom("529.982.247-25", "DE89370400440532013000", "4242424242424242", "978-3-16-148410-0"),
  fc.constantFrom("+5511987654321", "tel:+442079460958;ext=1", "1-800-FLOWERS", "BR", "55", "2026-11-01"),
  fc.stringMatching(/^\+?\d{5,16}$/),
);

const TEXT = fc.oneof({ arbitrary: LIKELY_TEXT, weight: 3 }, { arbitrary: STRANGE_TEXT, weight: 2 });

/** A value of any shape, prototype keys included. */
const ANYTHING = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  TEXT,
  fc.constantFrom<fc.JsonValue>(null, true, 0, -0, 1.5, 2 ** 53, -1, 1e308, [], {}, [[]]),
  fc.dictionary(fc.constantFrom("__proto__", "constructor", "email", "value", "length"), TEXT, {
    noNullPrototype: false,
  }),
);

function inQuery(schema: Schema, specification: Specification): fc.Arbitrary<string> {
  const right = valid(schema, specification).map((value) => `${value ?? ""}`);
  return fc.oneof({ arbitrary: right, weight: 3 }, { arbitrary: STRANGE_TEXT, weight: 1 });
}

/** Values that the schema takes, those at its edges among them. */
function valid(schema: Schema, specification: Specification): fc.Arbitrary<Json> {
  const { $ref, type, anyOf, properties, items, enum: words, minimum, maximum } = schema;
  if (typeof $ref === "string") return valid(specification.schema($ref), specification);
  if (Array.isArray(words)) return fc.constantFrom(...(words as fc.JsonValue[]));
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one: Schema) => valid(one, specification)));
  const types = Array.isArray(type) ? type : [type];
  const options = types.map((one): fc.Arbitrary<Json> => {
    switch (one) {
      case "null":
        return fc.constant(null);
      case "boolean":
        return fc.boolean();
      case "integer":
        return edges(Number(minimum ?? -1000), Number(maximum ?? 1000));
      case "number":
        return fc.oneof(edges(Number(minimum ?? -1000), Number(maximum ?? 1000)), fc.double({ noNaN: true }));
      case "array":
        return fc.array(near(items as Schema, specification), { maxLength: 8 });
      case "object":
        return object(
          properties as { [name: string]: Schema },
          (schema.required ?? []) as string[],
          specification,
        );
      default:
        return typeof schema.pattern === "string" ? fc.stringMatching(new RegExp(schema.pattern)) : TEXT;
    }
  });
  return fc.oneof(...options);
}

const edges = (min: number, max: number) =>
  fc.oneof(fc.constantFrom(min, max, min - 1, max + 1), fc.integer({ min, max }));

/** Mostly what the schema takes, else anything. */
function near(schema: Schema, specification: Specification): fc.Arbitrary<Json> {
  return fc.oneof({ arbitrary: valid(schema, specification), weight: 9 }, { arbitrary: ANYTHING, weight: 1 });
}

function object(
  properties: { readonly [name: string]: Schema },
  required: readonly string[],
  specification: Specification,
): fc.Arbitrary<Json> {
  const fields = Object.entries(properties).map(([name, schema]) =>
    fc
      .option(near(schema, specification), { freq: required.includes(name) ? 20 : 2 })
      .map((value) => (value === null && required.includes(name) ? [] : [[name, value ?? null] as const])),
  );
  const extra = fc.option(fc.tuple(fc.constantFrom("__proto__", "constructor", "extra"), ANYTHING), {
    freq: 5,
  });
  return fc.tuple(fc.tuple(...fields), extra).map(([known, odd]) => {
    const pairs: (readonly [string, Json])[] = [...known.flat(), ...(odd === null ? [] : [odd])];
    return Object.fromEntries(pairs) as fc.JsonValue;
  });
}

function headersOf({ parameters }: Operation): fc.Arbitrary<{ [name: string]: string }> {
  const value = fc.oneof(
    fc.constantFrom('"x"', "*", 'W/"v1"', '"', "a, b", "x".repeat(300), "\t", "é", "__proto__", "again"),
    fc.stringMatching(/^[!-~]{1,60}$/),
  );
  const sent = parameters.filter((parameter) => parameter.in === "header");
  const accept = fc.option(
    fc.constantFrom("application/x-ndjson", "*/*", "text/html", ",;q=", "application/json;q=0"),
  );
  const encoding = fc.option(fc.constantFrom("identity", "gzip;q=0", "gzip", "br, *;q=0.1"));
  return fc
    .tuple(accept, encoding, ...sent.map(() => fc.option(value, { freq: 1 })))
    .map(([accepted, encoded, ...values]) => {
      const pairs: [string, string | null | undefined][] = [
        ["Accept", accepted],
        ["Accept-Encoding", encoded],
        ...sent.map(({ name }, place): [string, string | null | undefined] => [name, values[place]]),
      ];
      return Object.fromEntries(
        pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"),
      );
    });
}

type Body = { readonly headers: { readonly [name: string]: string }; readonly body?: string | Uint8Array };

function bodyOf({ requestBody }: Operation, specification: Specification): fc.Arbitrary<Body> {
  if (requestBody === undefined) return fc.constant({ headers: {} });
  const types = Object.keys(requestBody.content);
  const json = near(requestBody.content["application/json"]?.schema ?? {}, specification).map((value) => ({
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value) ?? "null",
  }));
  const raw = fc.record({
    type: fc.constantFrom(
      ...types,
      "application/json; charset=latin1",
      "text/html",
      "multipart/form-data",
      "",
      "x/y+json",
    ),
    body: fc.oneof(
      fc
        .array(
          fc.oneof(
            TEXT,
            ANYTHING.map((value) => JSON.stringify(value) ?? ""),
          ),
          { maxLength: 6 },
        )
        .map((lines) => lines.join("\n")),
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom(
        "",
        "{",
        "nul",
        "[".repeat(20_000),
        '{"a":'.repeat(5000),
        "\ufeff{}",
        "[1,]",
        "NaN",
        "x".repeat(140_000),
      ),
    ),
  });
  const other = raw.map(({ type, body }) => ({ headers: { "Content-Type": type }, body }));
  return fc.oneof({ arbitrary: json, weight: 4 }, { arbitrary: other, weight: 1 });
}
