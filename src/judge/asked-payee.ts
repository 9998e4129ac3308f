import type { Accepted, CheckFacts } from "../contract/specification/directory/check.ts";
import { uncheckedPayeeKey } from "../directory/payee.ts";
import { EVM_ADDRESS, kindOf } from "../payments/tokens.ts";

/** What is asked for beside the listed payee, of which a listing names one; null where that is all right. */
export type OtherPayees = {
  /** A payee on the same kind of network, where one alone is right. */
  readonly sameKind: string | null;
  /** A payee that is asked for while the listed one is not. */
  readonly instead: string | null;
};

/** Returns the payees that an unpaid call was asked to pay in the place of the listed one. */
export function otherPayees({ pay_to: { address }, observed }: CheckFacts): OtherPayees {
  if (address === null) return { sameKind: null, instead: null };
  const ways = observed?.accepts ?? [];
  const listed = uncheckedPayeeKey(address);
  const listedKind = listed.startsWith("0x") ? "evm" : "solana";
  const others = ways.filter((way) => uncheckedPayeeKey(way.pay_to) !== listed);
  const sameKind = others.find((way) => payeeKind(way) === listedKind)?.pay_to ?? null;
  const isAbsent = sameKind === null && others.length === ways.length;
  return { sameKind, instead: isAbsent ? (others[0]?.pay_to ?? null) : null };
}

/** Goes by the network, as an address may be spelt in ways that some clients take. */
function payeeKind({ network, pay_to }: Accepted): ReturnType<typeof kindOf> {
  const kind = kindOf(network);
  return kind === "other" && EVM_ADDRESS.test(pay_to) ? "evm" : kind;
}
