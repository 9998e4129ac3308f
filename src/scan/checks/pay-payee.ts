import { challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { type Fields, isFields, written } from "../evidence.ts";

const EVM = /^0x[0-9a-f]{40}$/i;
const SOLANA = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

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
        const network = written(entry.network);
        const payTo = written(entry.payTo);
        if ((payees.get(network) ?? payTo) !== payTo) differs ??= `${network} has more than one payee`;
        payees.set(network, payTo);
      }
    }
    const known = evidence.resources.flatMap(({ knownPayees }) =>
      knownPayees.map((payee) => payee.toLowerCase()),
    );
    const now = [...payees.values()];
    if (differs !== null) return warn(first.exchange, differs);
    if (known.length > 0 && !now.some((payee) => known.includes(payee.toLowerCase()))) {
      return warn(first.exchange, "the payee is another than the one known before");
    }
    return pass(first.exchange, now.join(", "));
  },
};

function faultOf(entry: Fields): string | null {
  const payTo = written(entry.payTo);
  const isEvm = EVM.test(payTo);
  if (!isEvm && !SOLANA.test(payTo)) return `payTo ${payTo.slice(0, 60)} is no address`;
  if (written(entry.network).startsWith("eip155:") && !isEvm)
    return `payTo ${payTo} is no address of that network`;
  if (/^0x0{40}$/.test(payTo)) return "payTo is the zero address";
  const { asset, extra } = entry;
  if (payTo.toLowerCase() === written(asset).toLowerCase()) return "payTo is the asset's contract";
  return isFields(extra) && extra.feePayer === payTo ? "payTo is the fee payer" : null;
}
