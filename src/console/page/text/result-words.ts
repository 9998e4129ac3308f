import type { ResultRow } from "../wire/bodies.ts";
import { wordsOf } from "./format.ts";

/** What was checked, as it was given. */
export function itemOf(result: ResultRow): string {
  return String(result.email ?? result.phone ?? result.value ?? "");
}

export function statusOf(result: ResultRow): string {
  return typeof result.status === "string" ? result.status : result.valid === true ? "valid" : "invalid";
}

export function whyOf(result: ResultRow): string {
  const why = result.sub_status ?? result.message ?? result.reason ?? result.type;
  return typeof why === "string" && why !== "" ? wordsOf(why) : "–";
}
