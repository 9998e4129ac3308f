import { expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { bodyReader, queryReader } from "../../src/contract/schema.ts";
import * as account from "../../src/contract/specification/accounts/account.ts";
import * as keys from "../../src/contract/specification/accounts/keys.ts";
import * as directory from "../../src/contract/specification/directory/directory.ts";
import { openApiDocument } from "../../src/contract/specification/document/document.ts";
import type { Operation } from "../../src/contract/specification/operation.ts";
import * as email from "../../src/contract/specification/verification/email.ts";
import * as identity from "../../src/contract/specification/verification/identity.ts";
import * as phone from "../../src/contract/specification/verification/phone.ts";
import * as webhooks from "../../src/contract/specification/webhooks/webhooks.ts";
import { BORDER_VALUES, BORDER_WORDS } from "../support/border-values.ts";

/**
 * What the specification allows is what the server takes, and the other way round: values that are drawn near both
 * are read by the server's own readers and by a validator of the specification.
 */

const OPERATIONS: readonly Operation[] = [account, directory, email, identity, keys, phone, webhooks]
  .flatMap((module) => Object.values(module) as unknown[])
  .filter(
    (value): value is Operation => typeof value === "object" && value !== null && "operationId" in value,
  );
const document = openApiDocument(OPERATIONS, "1.0.0") as {
  paths: { [path: string]: { [method: string]: { parameters?: Parameter[]; requestBody?: unknown } } };
  components: unknown;
};
type Parameter = { name: string; in: string; required: boolean; schema: { [word: string]: unknown } };

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema({ $id: "https://assay.example/", ...document });

const takes = (read: () => unknown) => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

const withQuery = OPERATIONS.filter(({ query }) => query !== undefined);
const withBody = OPERATIONS.filter(({ body }) => body !== undefined);

test.each(withQuery.map((operation) => [operation.operationId, operation] as const))(
  "the query of %s",
  (_, operation) => {
    const path = operation.path.replace(/:([^/]+)/g, "{$1}");
    const written = document.paths[path]?.[operation.method.toLowerCase()]?.parameters ?? [];
    const parameters = written.filter((parameter) => parameter.in === "query");
    const checks = parameters.map(({ schema }) => ajv.compile(schema));
    const read = queryReader(operation);
    const values = fc.array(fc.option(fc.constantFrom(...BORDER_WORDS), { freq: 1 }), {
      minLength: parameters.length,
      maxLength: parameters.length,
    });
    fc.assert(
      fc.property(values, (texts) => {
        const query = new URLSearchParams();
        let isAllowed = true;
        for (const [place, { name, required }] of parameters.entries()) {
          const text = texts[place] ?? null;
          if (text !== null) query.set(name, text);
          const fits = text === null ? !required : scalarsOf(text).some((value) => checks[place]?.(value));
          isAllowed = isAllowed && fits;
        }
        expect([`${query}`, takes(() => read(`/?${query}`))]).toEqual([`${query}`, isAllowed]);
      }),
      { numRuns: 2000 },
    );
  },
);

/** What a text in a query may stand for: itself, a number in plain digits, or a flag. */
function scalarsOf(text: string): readonly unknown[] {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return [text, Number(text)];
  return text === "true" || text === "false" ? [text, text === "true"] : [text];
}

test.each(withBody.map((operation) => [operation.operationId, operation] as const))(
  "the JSON body of %s",
  (_, operation) => {
    const schema = operation.body?.["application/json"];
    const check = ajv.compile({ $ref: `https://assay.example/#/components/schemas/${schema?.$id}` });
    const read = bodyReader(operation);
    const fields = Object.fromEntries(
      Object.keys(schema?.properties ?? {}).map((name) => [name, fc.constantFrom(...BORDER_VALUES)]),
    );
    const bodies = fc.record(
      { ...fields, unknown_field: fc.constantFrom(...BORDER_VALUES) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(bodies, (body) => {
        expect([body, takes(() => read(body))]).toEqual([body, check(body)]);
      }),
      { numRuns: 3000 },
    );
  },
);
