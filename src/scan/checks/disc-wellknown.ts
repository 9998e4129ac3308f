import { nounOf } from "../../contract/noun.ts";
import { isObject, type JsonObject } from "../../platform/json-value.ts";
import { type Check, fail, pass, warn } from "../check.ts";
import { exchangeOf, exchangesOf, jsonOf } from "../evidence.ts";

export const discWellknown: Check = {
  id: "disc.wellknown",
  title: "/.well-known/x402 lists the resources",
  weight: 3,
  expected: "JSON that lists resources of this domain, all of them live",
  fix: 'Serve {"version":1,"resources":["https://your.host/v1/paid"]} at /.well-known/x402.',
  find(evidence) {
    const file = exchangeOf(evidence, "well_known");
    const json = file?.status === 200 ? jsonOf(file) : null;
    if (file === null || json === null) return fail(file, "absent or no JSON");
    const urls = listedResources(json, evidence.origin).map(({ url }) => url);
    if (urls.length === 0) return fail(file, "no resources");
    const domain = new URL(evidence.origin).hostname;
    const foreign = urls.find(({ hostname }) => hostname !== domain && !hostname.endsWith(`.${domain}`));
    if (foreign !== undefined) return fail(file, `${foreign.hostname} is another domain`);
    const dead = exchangesOf(evidence, "resource").find(
      ({ url, status }) =>
        urls.some(({ href }) => href === url) && (status === null || status === 404 || status >= 500),
    );
    return dead === undefined
      ? pass(file, `${urls.length} ${nounOf(urls.length, "resource")}`)
      : warn(dead, `${dead.status ?? dead.failure}`);
  },
};

export type ListedResource = {
  /** Null where the manifest names none. */
  readonly method: string | null;
  readonly url: URL;
};

/** Returns the resources that a manifest lists, in its deployed form and that of the drafts, at most 100. */
export function listedResources(json: JsonObject, origin: string): readonly ListedResource[] {
  const entries = Array.isArray(json.resources) ? json.resources : json.items;
  if (!Array.isArray(entries)) return [];
  return entries.slice(0, 100).flatMap((entry: unknown): readonly ListedResource[] => {
    const named = isObject(entry) ? (entry.url ?? entry.resource) : entry;
    if (typeof named !== "string") return [];
    // As in "POST /v1/paid".
    const [, prefix, text = ""] = /^\s*(?:([A-Za-z]{3,7})\s+)?(\S*)/.exec(named) ?? [];
    const url = text === "" ? null : URL.parse(text, origin);
    const method = prefix ?? (isObject(entry) ? entry.method : undefined);
    return url === null ? [] : [{ url, method: typeof method === "string" ? method.toUpperCase() : null }];
  });
}
