import { expect, test } from "bun:test";
import { ApiError } from "../../src/contract/errors.ts";
import { operation } from "../../src/contract/specification/operation.ts";
import { mountRoutes } from "../../src/http/mount.ts";
import { withOpenAiErrors } from "../../src/http/openai-errors.ts";
import { ParamError } from "../../src/inference/param-error.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { testBoundary } from "../support/boundary.ts";

/** The refusals of routes that OpenAI's clients call. */

const LISTED = operation({
  operationId: "listed",
  method: "GET",
  path: "/v1/listed",
  tag: "Test",
  summary: "A list.",
  access: "public",
  replies: { 200: { description: "The list." } },
});

/** Returns how a call is answered whose handler throws. */
async function answerTo(thrown: Error, { isDraining = false } = {}) {
  const bugs: unknown[] = [];
  const boundary = testBoundary({
    draining: () => isDraining,
    reportBug: (_, error) => bugs.push(error),
    refusalOf: (error) => (error instanceof StorageError ? new ApiError("storage_unavailable") : undefined),
  });
  const route = withOpenAiErrors({
    ...LISTED,
    handler: () => {
      throw thrown;
    },
    operation: LISTED,
  });
  const reply = await mountRoutes([route], boundary).handle(new Request("http://test/v1/listed"));
  const { error } = (await reply.json()) as { error: { [name: string]: unknown } };
  const { message, ...fields } = error;
  return { status: reply.status, headers: reply.headers, message, fields, bugs };
}

test("every refusal has OpenAI's shape, also of a bug, a full disk and a server that ends", async () => {
  const bug = new Error("a secret of a bug");
  const failed = await answerTo(bug);
  expect(failed.fields).toEqual({ code: "internal_error", type: "api_error", param: null });
  expect([failed.status, failed.bugs, String(failed.message).includes("secret")]).toEqual([
    500,
    [bug],
    false,
  ]);
  const full = await answerTo(new StorageError("disk at /secret"));
  expect(full.fields).toEqual({ code: "storage_unavailable", type: "api_error", param: null });
  expect([full.status, full.headers.get("Cache-Control"), full.bugs]).toEqual([503, "no-store", []]);
  const ending = await answerTo(bug, { isDraining: true });
  expect([ending.status, ending.fields.type, ending.fields.param]).toEqual([503, "api_error", null]);
  const wrong = await answerTo(new ParamError("invalid_request", "n must be 1.", "n"));
  expect([wrong.status, wrong.message, wrong.fields]).toEqual([
    400,
    "n must be 1.",
    { code: "invalid_request", type: "invalid_request_error", param: "n" },
  ]);
  const often = await answerTo(new ApiError("rate_limited", undefined, { retryAfterSeconds: 1.5 }));
  expect([often.fields.type, often.headers.get("Retry-After")]).toEqual(["rate_limit_error", "2"]);
});
