import { aliasOf, type Network } from "./networks.ts";

/** What is paid for, as the challenge describes it. */
export type PaidResource = {
  /** The address that was called. */
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
};

/** What one call costs and what for. */
export type Offer = {
  readonly resource: PaidResource;
  readonly priceMicroUsd: number;
  /** Entries for `extra` of every requirement, such as the id of a quote. */
  readonly extra?: { readonly [name: string]: string };
  /** Version 2 extensions of the challenge, by name. */
  readonly extensions?: { readonly [name: string]: unknown };
};

/** One way to pay an offer: an entry of `accepts` in version 2. */
export type Requirement = {
  readonly scheme: "exact";
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly [name: string]: string };
};

/** An entry of `accepts` in version 1. */
export type RequirementV1 = {
  readonly scheme: "exact";
  readonly network: string;
  readonly maxAmountRequired: string;
  readonly resource: string;
  readonly description: string;
  readonly mimeType: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly asset: string;
  readonly extra: { readonly [name: string]: string };
};

/** A network with the address that is paid there. */
export type Payee = { readonly network: Network; readonly payTo: string };

/**
 * How long a payment stays good once it is signed. As long as clients and scanners take for reasonable, because a
 * settlement whose outcome is unknown can be cleared up only while the payment is good.
 */
const MAX_TIMEOUT_SECONDS = 600;

/**
 * Returns the ways to pay an offer. Solana needs the account that pays the fee, which the facilitator names; without
 * it that network is left out.
 */
export function requirementsOf(
  offer: Offer,
  payees: readonly Payee[],
  feePayerOf: (network: Network) => string | null,
): Requirement[] {
  return payees.flatMap(({ network, payTo }) => {
    const extra = extraOf(network, feePayerOf(network));
    if (extra === null) return [];
    return [
      {
        scheme: "exact" as const,
        network: network.id,
        amount: String(offer.priceMicroUsd),
        asset: network.usdc,
        payTo,
        maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
        extra: { ...offer.extra, ...extra },
      },
    ];
  });
}

function extraOf(network: Network, feePayer: string | null): { readonly [name: string]: string } | null {
  if (network.domain !== null) return network.domain;
  return feePayer === null ? null : { feePayer };
}

/** Returns a requirement in the form of version 1. */
export function requirementV1(requirement: Requirement, resource: PaidResource): RequirementV1 {
  const { scheme, network, amount, payTo, maxTimeoutSeconds, asset, extra } = requirement;
  return {
    scheme,
    network: aliasOf(network),
    maxAmountRequired: amount,
    resource: resource.url,
    description: resource.description,
    mimeType: resource.mimeType,
    payTo,
    maxTimeoutSeconds,
    asset,
    extra,
  };
}
