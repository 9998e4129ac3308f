import { ERRORS, type ErrorCode } from "../../errors.ts";
import { type HeaderName, headerRefs, KEY_HEADERS } from "../headers.ts";
import { type JsonObject, schemaRef } from "../openapi-schema.ts";
import { ErrorBody } from "../service/service-replies.ts";

/** Each code with its row: the source of the table of errors. */
export const ERROR_MEANINGS = Object.entries(ERRORS).map(([code, { status, message, meaning }]) => ({
  code: code as ErrorCode,
  status,
  message,
  meaning,
}));

const WAITS: readonly number[] = [402, 429, 503];

/** Returns the responses of an operation that refuse, by status. `samples` are real ones, by status. */
export function refusals(
  codes: readonly ErrorCode[],
  access: "key" | "public" | "open",
  samples: { readonly [status: string]: JsonObject },
): { readonly [status: string]: JsonObject } {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => ERRORS[code].status === status);
      return [`${status}`, refusal(status, ofStatus, access, samples[status] ?? {})];
    }),
  );
}

function refusal(
  status: number,
  codes: readonly ErrorCode[],
  access: "key" | "public" | "open",
  samples: JsonObject,
): JsonObject {
  const headers: HeaderName[] = [
    "X-Request-Id",
    ...(access === "key" && status !== 401 && status !== 403 ? KEY_HEADERS : []),
    ...(WAITS.includes(status) || codes.includes("idempotency_in_progress")
      ? (["Retry-After"] as const)
      : []),
    ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
    ...(codes.includes("payment_required") ? (["PAYMENT-REQUIRED"] as const) : []),
  ];
  const general = Object.fromEntries(codes.map((code) => [code, { $ref: referenceTo(code) }]));
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join("\n\n"),
    headers: headerRefs(headers),
    content: {
      "application/json": { schema: schemaRef(ErrorBody), examples: { ...general, ...samples } },
    },
  };
}

/** Returns one example of each refusal that these paths name, with the text where nothing more exact can be said. */
export function refusalExamples(pathsText: string): JsonObject {
  const named = ERROR_MEANINGS.filter(({ code }) => pathsText.includes(`"${referenceTo(code)}"`));
  return Object.fromEntries(
    named.map(({ code, message, meaning }) => [
      code,
      { summary: meaning, value: { error: { code, message } } },
    ]),
  );
}

const referenceTo = (code: ErrorCode) => `#/components/examples/${code}`;
