import { isObject } from "../../platform/json-value.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { exchangeOf, jsonOf } from "../evidence.ts";

export const httpErrors: Check = {
  id: "http.errors",
  title: "Errors can be read by programs",
  weight: 2,
  expected: "JSON with a code and a message",
  fix: 'Answer errors with {"error":{"code":"not_found","message":"…"}}.',
  find(evidence) {
    const unknown = exchangeOf(evidence, "unknown_path");
    if (unknown === null || unknown.status === null) return notApplicable("no reply");
    const json = jsonOf(unknown);
    if (json === null) return fail(unknown, "no JSON");
    const error = isObject(json.error) ? json.error : json;
    const isWhole = typeof error.message === "string" && ["string", "number"].includes(typeof error.code);
    return isWhole ? pass(unknown, "code and message") : warn(unknown, "JSON of another shape");
  },
};
