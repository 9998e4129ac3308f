import type { Accepted, CheckFacts } from "../contract/specification/directory/check.ts";
import { findKnownNetwork, microUsdOf } from "../payments/tokens.ts";

/** What one way to pay costs. */
export type AskedPrice = { readonly network: string; readonly microUsd: bigint };

/** Returns the prices of the ways to pay that were seen, where their token is known on a main network, cheapest first. */
export function askedPrices({ observed }: CheckFacts): readonly AskedPrice[] {
  const prices = (observed?.accepts ?? []).flatMap((way) => priceOf(way) ?? []);
  return prices.sort((a, b) => (a.microUsd < b.microUsd ? -1 : Number(a.microUsd > b.microUsd)));
}

function priceOf({ network: name, asset, amount }: Accepted): AskedPrice | null {
  const network = findKnownNetwork(name);
  if (network === null || network.isTest) return null;
  const microUsd = microUsdOf({ network: name, asset, units: BigInt(amount) });
  return microUsd === null ? null : { network: network.id, microUsd };
}

/** Returns whether tokens of a network are known here, so that others can be distinguished from them. */
export function hasKnownTokens(network: string): boolean {
  return (findKnownNetwork(network)?.tokens.length ?? 0) > 0;
}

export function priceText({ network, microUsd }: AskedPrice): string {
  const [whole, fraction] = [microUsd / 1_000_000n, microUsd % 1_000_000n];
  return `${whole}.${`${fraction}`.padStart(6, "0")} USD on ${network}`;
}
