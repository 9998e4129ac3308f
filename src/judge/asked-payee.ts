import type { Accepted, CheckFacts } from "../contract/specification/directory/check.ts";
import { uncheckedPayeeKey } from "../directory/payee.ts";
import { kindOf } from "../payments/tokens.ts";

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

/**
 * Returns a payee that was asked for in the place of the listed one, or null. A listing names one payee: that of another kind
 * of network may stand beside it, but does not replace it.
 */
export function otherPayee({ pay_to: { address }, observed }: CheckFacts): string | null {
  if (address === null) return null;
  const ways = observed?.accepts ?? [];
  const listed = uncheckedPayeeKey(address);
  const listedKind = listed.startsWith("0x") ? "evm" : "solana";
  const others = ways.filter((way) => uncheckedPayeeKey(way.pay_to) !== listed);
  const replaced = others.length === ways.length ? others[0] : undefined;
  return (others.find((way) => payeeKind(way) === listedKind) ?? replaced)?.pay_to ?? null;
}

/** Goes by the network, as an address may be spelt in ways that some clients take. */
function payeeKind({ network, pay_to }: Accepted): ReturnType<typeof kindOf> {
  const kind = kindOf(network);
  return kind === "other" && EVM_ADDRESS.test(pay_to) ? "evm" : kind;
}
