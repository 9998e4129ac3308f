import { isObject, parseJson } from "../platform/json-value.ts";
import type { JsonObject, JsonValue } from "./choices.ts";

const VALUES_MAX = 500_000;
const DEPTH_MAX = 512;

/** Returns the value of a JSON text; undefined where it is invalid, or holds more than half a million values, or too deep ones. */
export function jsonOf(text: string): JsonValue | undefined {
  const value = parseJson(text, VALUES_MAX, DEPTH_MAX);
  return typeof value === "symbol" ? undefined : (value as JsonValue | undefined);
}

/** Returns whether an event of a stream reports a failure, as an object or as a text; an empty `error` reports none. */
export function isError({ error }: JsonObject): boolean {
  return typeof error === "string" ? error !== "" : isObject(error);
}
