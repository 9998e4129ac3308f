import { aliasOf, type Network } from "./networks.ts";

/** The paid resource, as the challenge describes it. */
export type PaidResource = {
  /** The address that was called. */
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
};

/** The price of one call, and its resource. */
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
 * The validity of a signed payment. As long as clients and scanners accept, because an unknown outcome of a settlement can
 * be resolved only while the payment is valid.
 */
const MAX_TIMEOUT_SECONDS = 600;

/**
 * Returns the requirements of an offer, one for each network. Solana is omitted without the facilitator's fee payer.
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
