import { SUMMARY_WORDS } from "../../../contract/words.ts";
import type { Job, ResultRow } from "../wire/bodies.ts";
import { wordsOf } from "./format.ts";
import { visible } from "./visible.ts";

/** Returns the verdicts that a list of a kind can have. */
export function verdictsOf(kind: Job["kind"]): readonly string[] {
  return SUMMARY_WORDS[kind];
}

/** Returns the item that was checked, as the caller gave it. */
export function itemOf(result: ResultRow): string {
  return visible(String(result.email ?? result.phone ?? result.value ?? ""));
}

export function statusOf(result: ResultRow): string {
  return typeof result.status === "string" ? result.status : result.valid === true ? "valid" : "invalid";
}

export function whyOf(result: ResultRow): string {
  const why = result.sub_status ?? result.message ?? result.reason ?? result.type;
  return typeof why === "string" && why !== "" ? wordsOf(why) : "–";
}
