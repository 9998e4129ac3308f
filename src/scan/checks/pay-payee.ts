import { payeeKey, uncheckedPayeeKey } from "../../directory/payee.ts";
import { kindOf } from "../../payments/tokens.ts";
import { isObject, type JsonObject } from "../../platform/json-value.ts";
import { challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { written } from "../evidence.ts";

/** The zero addresses: nobody has their keys. */
const NOBODY: readonly string[] = [`0x${"0".repeat(40)}`, "1".repeat(32)];

const CHANGED = "the payee is another than the one known before";

export const payPayee: Check = {
  id: "pay.payee",
  title: "The payee is valid and the same everywhere",
  weight: 6,
  expected: "one valid address for each network, on all resources and as it was known before",
  fix: "Set payTo to an address of yours, the same on all routes, and announce a change.",
  find(evidence) {
    const challenges = challengePerResource(evidence);
    const [first] = challenges;
    if (first === undefined || first.accepts.length === 0) return notApplicable("no way to pay was seen");
    const payees = new Map<string, string>();
    let differs: string | null = null;
    for (const { exchange, accepts } of challenges) {
      for (const entry of accepts) {
        const fault = faultOf(entry);
        if (fault !== null) return fail(exchange, fault);
        const network = written(entry.network).slice(0, 80);
        const payTo = written(entry.payTo);
        if (uncheckedPayeeKey(payees.get(network) ?? payTo) !== uncheckedPayeeKey(payTo))
          differs ??= `${network} has more than one payee`;
        payees.set(network, payTo);
      }
    }
    if (differs !== null) return warn(first.exchange, differs);
    const now = [...payees.values()];
    const known = evidence.resources.flatMap(({ knownPayees }) => knownPayees);
    for (const isEvm of [true, false]) {
      const ofKind = (payee: string) => payee.startsWith("0x") === isEvm;
      const before = new Set(known.filter(ofKind).map(uncheckedPayeeKey));
      const changed = now
        .filter(ofKind)
        .some((payee) => before.size > 0 && !before.has(uncheckedPayeeKey(payee)));
      if (changed) return warn(first.exchange, CHANGED);
    }
    const knownKeys = new Set(known.map(uncheckedPayeeKey));
    // One of another kind of network may come beside a payee, but not in its place.
    const isReplaced = known.length > 0 && !now.some((payee) => knownKeys.has(uncheckedPayeeKey(payee)));
    if (isReplaced) return warn(first.exchange, CHANGED);
    return pass(first.exchange, now.join(", "));
  },
};

function faultOf(entry: JsonObject): string | null {
  const { asset, extra } = entry;
  const payTo = written(entry.payTo);
  const kind = kindOf(written(entry.network));
  // The addresses of other networks cannot be checked; `pay.network` checks whether a network is known.
  const isAddress = kind === "other" ? payTo !== "" : payeeKey(payTo) !== null;
  if (!isAddress) return `payTo ${payTo.slice(0, 60)} is no address`;
  if (kind !== "other" && payTo.startsWith("0x") !== (kind === "evm"))
    return `payTo ${payTo} is no address of that network`;
  if (NOBODY.includes(payTo)) return "payTo is the zero address";
  if (uncheckedPayeeKey(payTo) === uncheckedPayeeKey(written(asset))) return "payTo is the asset's contract";
  return isObject(extra) && extra.feePayer === payTo ? "payTo is the fee payer" : null;
}
