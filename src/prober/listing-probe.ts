import type { ListingBody } from "../contract/directory-schemas.ts";
import type { Accepted } from "../contract/specification/directory/check.ts";
import { uncheckedPayeeKey } from "../directory/payee.ts";
import type { FailureReason } from "../net/failure.ts";
import type { HttpClient } from "../net/http-client.ts";
import { NETWORKS } from "../payments/networks.ts";
import { findKnownNetwork, listedMicroUsd, microUsdOf } from "../payments/tokens.ts";
import type { Clock } from "../platform/clock.ts";
import { DAY_MS, dayOf } from "../platform/days.ts";
import type { Probe, ProbeStore } from "../store/probe-port.ts";
import { createOptOuts } from "./opt-outs.ts";
import { decode, type Probed, type ProbedReply, readProbe } from "./probe-reply.ts";

export type ListingProbeDependencies = {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly store: Pick<ProbeStore, "find">;
  readonly signal: AbortSignal;
  /** Of a round. */
  readonly intervalMs: number;
  readonly onProbe: (probe: Probe) => void;
};

/** Of one listing in one round: a longer one takes several, unless rounds are so long that it would not be rated. */
const PROBED_RESOURCES_USUAL = 20;
/** Between two probes of one resource: 24 within the 30 days, of which 20 rate it. */
const BETWEEN_PROBES_MS_MAX = 1.25 * DAY_MS;
const BODY_BYTES_MAX = 65_536;
/** A resource that answers so may take another method. */
const MAY_TAKE_ANOTHER_METHOD: readonly number[] = [400, 404, 405, 415, 422];
const NOT_LOOKED_UP: readonly FailureReason[] = ["dns_failed", "dns_timeout"];

type Attempt = {
  /** Null without a reply. */
  readonly reply: ProbedReply | null;
  readonly ms: number | null;
  /** The host could not be resolved, which says nothing of the resource. */
  readonly isUnknown: boolean;
};

/** Calls the resources of a listing that are due in a round, given by its number. */
export type ListingProbe = (listing: ListingBody, round: number) => Promise<void>;

/** Returns a function that calls resources without paying, and reports each reply. */
export function createListingProbe(dependencies: ListingProbeDependencies): ListingProbe {
  const { client, clock, store, signal, intervalMs, onProbe } = dependencies;
  const roundsMax = Math.max(1, Math.floor(BETWEEN_PROBES_MS_MAX / intervalMs));
  const optOuts = createOptOuts({ client, clock });

  /** Probes one resource of a listing at a time, so that a host has at most one request in flight. */
  async function probeListing({ host, resources }: ListingBody, round: number): Promise<void> {
    for (const { url, price_usd: priceUsd } of dueIn(round, resources, roundsMax)) {
      if (signal.aborted) return;
      await probeResource(host, url, priceUsd !== null);
    }
  }

  async function probeResource(host: string, url: string, isPaid: boolean): Promise<void> {
    if (await optOuts.keepsOut(url, signal)) return;
    const known = store.find(url);
    let method = known?.method ?? "GET";
    let attempt = await ask(url, method);
    // Where the name could not be resolved our own connection may be down.
    if (signal.aborted || attempt.isUnknown) return;
    // Listings do not say which method a resource takes: one that does not take GET is asked by POST from then on.
    if (isPaid && attempt.reply !== null && MAY_TAKE_ANOTHER_METHOD.includes(attempt.reply.status)) {
      const other = method === "GET" ? "POST" : "GET";
      const second = await ask(url, other);
      if (second.reply?.status === 402) {
        attempt = second;
        method = other;
      }
    }
    const probed = readProbe(attempt.reply, isPaid);
    const at = clock.now();
    const { status } = probed;
    const { ms } = attempt;
    const accepts = JSON.stringify(probed.accepts);
    onProbe({
      url,
      host,
      method,
      at,
      day: dayOf(at),
      status,
      ms,
      accepts,
      ...paymentOf(probed, known?.payTo ?? null),
    });
  }

  async function ask(url: string, method: string): Promise<Attempt> {
    const sent = await client.send(url, {
      method,
      signal,
      truncateBody: true,
      bodyBytesMax: BODY_BYTES_MAX,
    });
    if (!sent.ok) return { reply: null, ms: null, isUnknown: NOT_LOOKED_UP.includes(sent.reason) };
    const { lookupMs, connectMs, tlsMs, headMs } = sent.timings;
    const { status, headers, isTruncated } = sent;
    return {
      reply: { status, headers, body: decode(sent.body), isTruncated },
      ms: Math.round(lookupMs + connectMs + tlsMs + headMs),
      isUnknown: false,
    };
  }

  return probeListing;
}

/** Returns all of a short list; of a longer one the part of a round, from where the round before ended. */
function dueIn(
  round: number,
  resources: ListingBody["resources"],
  roundsMax: number,
): ListingBody["resources"] {
  const dueMax = Math.max(PROBED_RESOURCES_USUAL, Math.ceil(resources.length / roundsMax));
  if (resources.length <= dueMax) return resources;
  const start = (round * dueMax) % resources.length;
  return [...resources, ...resources].slice(start, start + dueMax);
}

/** A payee keeps the spelling that is known: another one is no change. */
function paymentOf({ accepts }: Probed, knownPayee: string | null): Pick<Probe, "payTo" | "priceMicroUsd"> {
  const way = usualWay(accepts);
  if (way === undefined) return { payTo: null, priceMicroUsd: null };
  const { network, asset, amount, pay_to: seen } = way;
  const isKnown = knownPayee !== null && uncheckedPayeeKey(knownPayee) === uncheckedPayeeKey(seen);
  return {
    payTo: isKnown ? knownPayee : seen,
    priceMicroUsd: listedMicroUsd({ network, asset, units: BigInt(amount) }),
  };
}

/**
 * Returns the way to pay whose price and payee count: USDC by the order of networks, in whatever order they come; else the
 * first of a known token, or the first. What costs money goes before what is paid on a test network.
 */
function usualWay(accepts: readonly Accepted[]): Accepted | undefined {
  const real = accepts.filter(({ network }) => findKnownNetwork(network)?.isTest !== true);
  return inUsdc(real) ?? real.find(isPriced) ?? real[0] ?? inUsdc(accepts) ?? accepts[0];
}

function inUsdc(accepts: readonly Accepted[]): Accepted | undefined {
  for (const { id, alias, usdc } of NETWORKS) {
    const found = accepts.find(
      ({ network, asset }) =>
        (network === id || network === alias) && asset.toLowerCase() === usdc.toLowerCase(),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPriced({ network, asset, amount }: Accepted): boolean {
  return microUsdOf({ network, asset, units: BigInt(amount) }) !== null;
}
