import { editCost } from "./edit-cost.ts";
import { isIcannTld } from "./mail-domain.ts";

const TLDS_MEANT: readonly string[] = ["com", "net", "org", "edu"];
const TLD_COST_MAX = 0.9;
/** Short TLDs are close to each other: only a letter typed twice is corrected. */
const COUNTRY_TLDS_MEANT: readonly string[] =
  "de fr it es nl ru pl br uk ch at be se cz ca eu jp in info".split(" ");
const PAIRED_TLDS: ReadonlyMap<string, string> = new Map([
  ["couk", "co.uk"],
  ["co.u", "co.uk"],
  ["co.k", "co.uk"],
  ["co.ik", "co.uk"],
  ["co.yk", "co.uk"],
  ["co.uj", "co.uk"],
  ["co.ul", "co.uk"],
  ["co.ukk", "co.uk"],
  ["co.uuk", "co.uk"],
  ["c.ouk", "co.uk"],
  ["combr", "com.br"],
  ["comau", "com.au"],
  ["commx", "com.mx"],
  ["comtr", "com.tr"],
  ["cojp", "co.jp"],
  ["coin", "co.in"],
  ["conz", "co.nz"],
  ["coza", "co.za"],
]);

/** Corrects a TLD that does not exist and is one typo from a common one, behind any name; else returns null. */
export function withRepairedTld(name: string): string | null {
  const labels = name.split(".");
  const tld = labels.at(-1) ?? "";
  if (isIcannTld(tld) || labels.some((label) => label === "")) return null;
  const pair = labels.length > 2 ? PAIRED_TLDS.get(labels.slice(-2).join(".")) : undefined;
  if (pair !== undefined) return [...labels.slice(0, -2), pair].join(".");
  const joined = PAIRED_TLDS.get(tld);
  if (joined !== undefined) return [...labels.slice(0, -1), joined].join(".");
  const doubled = COUNTRY_TLDS_MEANT.find((meant) => isDoubling(tld, meant));
  if (doubled !== undefined) return [...labels.slice(0, -1), doubled].join(".");
  let best = "";
  let least = TLD_COST_MAX;
  for (const meant of TLDS_MEANT) {
    const cost = editCost(tld, meant, TLD_COST_MAX);
    if (cost <= least && (cost < least || best === "")) {
      least = cost;
      best = meant;
    }
  }
  return best === "" ? null : [...labels.slice(0, -1), best].join(".");
}

/** Returns whether `typed` is `meant` with one of its letters twice. */
function isDoubling(typed: string, meant: string): boolean {
  if (typed.length !== meant.length + 1) return false;
  for (let at = 0; at < meant.length; at++) {
    if (typed === meant.slice(0, at + 1) + meant.slice(at)) return true;
  }
  return false;
}
