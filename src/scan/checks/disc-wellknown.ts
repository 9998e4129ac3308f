import { nounOf } from "../../contract/noun.ts";
import { type Check, fail, pass, warn } from "../check.ts";
import { exchangeOf, exchangesOf, isFields, jsonOf } from "../evidence.ts";

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
    const urls = resourceUrls(json, evidence.origin);
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

/** Returns the addresses that a manifest lists, in its deployed form and that of the drafts. */
export function resourceUrls(json: { readonly [name: string]: unknown }, origin: string): readonly URL[] {
  const entries = Array.isArray(json.resources) ? json.resources : json.items;
  if (!Array.isArray(entries)) return [];
  return entries.slice(0, 100).flatMap((entry: unknown) => {
    const named = isFields(entry) ? (entry.url ?? entry.resource) : entry;
    const text = typeof named === "string" ? named.replace(/^[A-Z]+\s+/, "") : "";
    return text === "" ? [] : (URL.parse(text, origin) ?? []);
  });
}
