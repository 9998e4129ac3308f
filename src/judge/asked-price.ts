import type { Accepted, CheckFacts } from "../contract/specification/directory/check.ts";
import { findKnownNetwork, findToken } from "../payments/tokens.ts";

/** What one way to pay costs. */
export type AskedPrice = { readonly network: string; readonly microUsd: bigint };

const USD_DECIMALS = 6n;

/** Returns the prices of the ways to pay that were seen, where their token is known on a main network, cheapest first. */
export function askedPrices({ observed }: CheckFacts): readonly AskedPrice[] {
  const prices = (observed?.accepts ?? []).flatMap((way) => priceOf(way) ?? []);
  return prices.sort((a, b) => (a.microUsd < b.microUsd ? -1 : Number(a.microUsd > b.microUsd)));
}

function priceOf({ network: name, asset, amount }: Accepted): AskedPrice | null {
  const network = findKnownNetwork(name);
  const token = network === null || network.isTest ? null : findToken(network, asset);
  if (network === null || token === null) return null;
  const units = BigInt(amount);
  const beyond = BigInt(token.decimals) - USD_DECIMALS;
  // Rounded up: it is never shown as less than what is asked.
  const microUsd = (units + 10n ** beyond - 1n) / 10n ** beyond;
  return { network: network.id, microUsd };
}

/** Returns whether tokens of a network are known here, so that others can be distinguished from them. */
export function hasKnownTokens(network: string): boolean {
  return (findKnownNetwork(network)?.tokens.length ?? 0) > 0;
}

export function priceText({ network, microUsd }: AskedPrice): string {
  const [whole, fraction] = [microUsd / 1_000_000n, microUsd % 1_000_000n];
  return `${whole}.${`${fraction}`.padStart(6, "0")} USD on ${network}`;
}
