import { describe, expect, test } from "bun:test";
import { startFileServer } from "../support/server.ts";
import { readSpecification, type Schema } from "../support/specification.ts";

/** Nesting that fills the largest body of everything but batches. */
const DEPTH = 60_000;
const NESTS: readonly (readonly [name: string, text: string])[] = [
  ["arrays", `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`],
  ["objects", `${'{"a":'.repeat(DEPTH / 4)}1${"}".repeat(DEPTH / 4)}`],
  ["arrays that never end", "[".repeat(2 * DEPTH)],
];

const server = await startFileServer();
const specification = await readSpecification(server);

function fieldsOf(schema: Schema): readonly string[] {
  const { $ref, properties } = schema as { readonly $ref?: string; readonly properties?: object };
  return $ref === undefined ? Object.keys(properties ?? {}) : fieldsOf(specification.schema($ref));
}

describe("a JSON body that is nested as deep as it may be long is refused, or read, by every operation", () => {
  test.each(NESTS)("%s", async (_, nest) => {
    const taking = specification.operations.filter(
      ({ requestBody }) => requestBody?.content["application/json"],
    );
    expect(taking.length).toBeGreaterThan(10);
    for (const { operationId, path, method, requestBody } of taking) {
      const fields = fieldsOf(requestBody?.content["application/json"]?.schema ?? {});
      const bodies = [nest, ...[...fields, "unknown"].map((field) => `{${JSON.stringify(field)}:${nest}}`)];
      for (const body of bodies) {
        // Some operations end the key that they are called with.
        const key = await server.signUp("scale");
        const reply = await server.call(path.replaceAll(/\{\w+\}/g, "x"), { key, method, body });
        const { status } = reply;
        expect([operationId, body.slice(0, 20), status < 500 && status !== 401, await reply.text()]).toEqual([
          operationId,
          body.slice(0, 20),
          true,
          expect.any(String),
        ]);
      }
    }
    expect((await server.call("/healthz")).status).toBe(200);
    expect(server.logged().filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
