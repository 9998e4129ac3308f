import { expect, test } from "bun:test";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { version } from "../../package.json" with { type: "json" };
import { ERRORS } from "../../src/contract/errors.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startFileServer, TEST_ZONE } from "../support/server.ts";
import { exampleCall, readSpecification, type Specification } from "../support/specification.ts";

/** The specification is true: valid, whole, and each of its examples is what a real server answers. */

const RECORD = join(import.meta.dir, "../../src/contract/specification/document/data/reply-examples.json");
/** `RECORD_EXAMPLES=1 bun test test/house/contract.test.ts` writes the replies down anew. */
const RECORDING = process.env.RECORD_EXAMPLES === "1";
/** Those of the services that are paid by the call, which have specifications of their own. */
const OF_PAID_SERVICES: ReadonlySet<string> = new Set([
  "payment_required",
  "payment_invalid",
  "payment_in_use",
  "upstream_failed",
  "settlement_unknown",
  "processing",
]);
const NOW = Date.parse("2026-11-20T10:00:00Z");

/** The domains of the examples, those of real providers as the DNS has them. */
const ZONE = `${TEST_ZONE.replaceAll(/^gmail.*$/gm, "")}
gmail.com                  MX 5 gmail-smtp-in.l.google.com
                           MX 10 alt1.gmail-smtp-in.l.google.com
gmail-smtp-in.l.google.com A 142.250.27.26
alt1.gmail-smtp-in.l.google.com A 142.250.153.26
gmial.com                  A 8.8.8.8
analytical-engine.com      MX 10 mx.analytical-engine.com
                           TXT "v=spf1 mx -all"
_dmarc.analytical-engine.com TXT "v=DMARC1; p=reject"
mx.analytical-engine.com   A 8.8.8.8
mailinator.com             MX 1 mail.mailinator.com
mail.mailinator.com        A 8.8.8.8
null-mx.com                MX 0 .
`;

const server = await startFileServer({
  zone: ZONE,
  clock: { now: () => NOW, monotonic: systemClock.monotonic },
});
const specification = await readSpecification(server);

test("it is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(specification.document));
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(validator.version).toBe("3.1");
  expect(specification.document.info).toMatchObject({ title: "Assay", version });
});

test("every reference in it leads somewhere, and every component is used", () => {
  const text = JSON.stringify(specification.document);
  const { components } = specification.document as { components: { [kind: string]: object } };
  const known = Object.entries(components).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `#/components/${kind}/${name}`),
  );
  const referred = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? ""));
  expect([...referred].filter((ref) => !known.includes(ref))).toEqual([]);
  const unused = known.filter((ref) => !referred.has(ref) && !ref.includes("/securitySchemes/"));
  expect(unused).toEqual([]);
});

test("every operation says what it is, what it takes and how it can be refused", () => {
  for (const { operationId, summary, tags, security, responses } of specification.operations) {
    expect({ operationId, summary, tags }).toEqual({
      operationId: expect.any(String),
      summary: expect.any(String),
      tags: [expect.any(String)],
    });
    const statuses = Object.keys(responses);
    expect(statuses).toContain("500");
    if (security.length > 0) {
      for (const status of ["401", "429", "503"])
        expect([operationId, statuses]).toEqual([operationId, expect.arrayContaining([status])]);
    }
    for (const [status, { headers = {}, content = {} }] of Object.entries(responses)) {
      expect(Object.keys(headers)).toContain("X-Request-Id");
      const named = Object.keys(content["application/json"]?.examples ?? {}).filter((name) => name in ERRORS);
      for (const code of named)
        expect(ERRORS[code as keyof typeof ERRORS].status).toBe(Number(status) as never);
    }
  }
});

test("every code of refusal is documented somewhere", () => {
  const documented = new Set(
    specification.operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content = {} }) =>
        Object.keys(content["application/json"]?.examples ?? {}),
      ),
    ),
  );
  const missing = Object.keys(ERRORS).filter((code) => !documented.has(code));
  expect(missing.filter((code) => !OF_PAID_SERVICES.has(code))).toEqual([]);
});

test("every example of a reply fits its schema", () => {
  const broken = specification.operations.flatMap(({ path, method, operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).flatMap(([mediaType, { examples = {} }]) =>
        Object.entries(examples).flatMap(([name, { value }]) => {
          const place = [
            "paths",
            path,
            method.toLowerCase(),
            "responses",
            status,
            "content",
            mediaType,
            "schema",
          ];
          const faults = specification.faults(place, value);
          return faults.map((fault) => `${operationId} ${status} ${name}: ${fault}`);
        }),
      ),
    ),
  );
  expect(RECORDING ? [] : broken).toEqual([]);
});

test("every example of a call is answered as the example says", async () => {
  const recorded: { [operationId: string]: { [name: string]: unknown } } = {};
  const differences: string[] = [];
  for (const { operation, status, mediaType, name, value } of examples(specification)) {
    const key = operation.security.length > 0 ? await newKey() : undefined;
    const { path, options } = exampleCall(operation, name);
    const reply = await server.call(path, { ...options, ...(key === undefined ? {} : { key }) });
    const body = await reply.text();
    const answered: unknown = mediaType === "application/json" ? JSON.parse(body) : body;
    recorded[operation.operationId] = { ...recorded[operation.operationId], [name]: answered };
    const at = `${operation.operationId} ${name}`;
    for (const fault of specification.replyFaults(operation, reply, body))
      differences.push(`${at}: ${fault}`);
    if (`${reply.status}` !== status) differences.push(`${at}: ${reply.status} instead of ${status}`);
    if (!RECORDING) expect([at, lasting(answered)]).toEqual([at, lasting(value)]);
  }
  if (RECORDING) await Bun.write(RECORD, `${JSON.stringify(recorded, null, 2)}\n`);
  expect(differences).toEqual([]);
  expect(Object.keys(recorded).length).toBeGreaterThan(20);
});

test("every route that wants a key says so, and refuses without one", async () => {
  for (const operation of specification.operations) {
    const reply = await server.call(operation.path, {
      method: operation.method,
      ...(operation.requestBody === undefined ? {} : { body: {} }),
    });
    expect([operation.operationId, reply.status === 401]).toEqual([
      operation.operationId,
      operation.security.length > 0,
    ]);
  }
});

/** Every example of a reply but those of the codes in general, which no one call brings about. */
function* examples(from: Specification) {
  for (const operation of from.operations) {
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      for (const [mediaType, { examples: named = {} }] of Object.entries(content)) {
        for (const [name, { value }] of Object.entries(named)) {
          if (!(name in ERRORS)) yield { operation, status, mediaType, name, value };
        }
      }
    }
  }
}

let holders = 0;
/** A key of an account on the plan growth that has made two calls. */
async function newKey(): Promise<string> {
  holders += 1;
  const email = `ada+${holders}@analytical-engine.com`;
  const body = { email, name: "Ada", company: "Analytical Engine Ltd", country: "GB", plan: "growth" };
  const reply = await server.call("/v1/signup", { body });
  const { api_key: key } = (await reply.json()) as { api_key: string };
  await server.call("/v1/email/verify?email=jane.doe@gmail.com&deep=true", { key });
  await server.call("/v1/phone/validate?phone=%2B5511987654321", { key });
  return key;
}

/** Values that are others each time: identities, secrets and moments. What is left must be the same. */
const PASSING =
  /^(?:account_id|api_key|invoice_id|email|created_at|time|observed|uptime_s|old_key_expires_at|projected_total_usd|synced_at|epoch|next_cursor|at|output|last_paid)$/;

function lasting(value: unknown, inAccount = false): unknown {
  if (typeof value === "string" && value.includes("\n")) return value.split("\n");
  if (Array.isArray(value)) return value.map((inner) => lasting(inner));
  if (typeof value !== "object" || value === null) return value;
  const isAccount = inAccount || "account_id" in value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const passes = PASSING.test(name) && (name !== "email" || isAccount);
      return [name, passes ? typeof inner : lasting(inner, isAccount)];
    }),
  );
}
