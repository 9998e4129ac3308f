import { ApiError } from "../contract/errors.ts";
import type { HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import type { Steps } from "../platform/steps.ts";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";
import { createSilenceWatch, type SilenceWatch } from "./silence-watch.ts";
import { askUpstream, modelsRequest, type UpstreamAddress, type UpstreamReply } from "./upstream.ts";

export type UpstreamCall = {
  readonly body: string;
  readonly isStream: boolean;
  readonly signal: AbortSignal;
};

/** The upstreams, in order of preference. */
export type Upstreams = AsyncDisposable & {
  /**
   * Tries one after the other until one has answered, or sent its first token; those that failed repeatedly come last, and
   * those that are silent are left out, but for the one call after a while that its breaker lets through.
   * Throws `upstream_failed` where all fail, and the reason of the signal where the caller has left.
   */
  readonly ask: (call: UpstreamCall) => Promise<Exclude<UpstreamReply, { kind: "failed" }>>;
  readonly states: () => readonly {
    readonly baseUrl: string;
    readonly isOpen: boolean;
    /** It has answered a call within the last minute. */
    readonly hasAnswered: boolean;
  }[];
  /** Asks one whether it replies at all, which costs nothing there. */
  readonly isHeard: (baseUrl: string, signal: AbortSignal) => Promise<boolean>;
};

type Upstream = {
  readonly address: UpstreamAddress;
  readonly breaker: CircuitBreaker;
  readonly watch: SilenceWatch;
  answeredMs: number;
};

const HEARD_WITHIN_MS = 3000;
const BETWEEN_QUESTIONS_MS = 1000;
const ANSWERED_WITHIN_MS = 60_000;

export type UpstreamsDependencies = {
  readonly client: HttpClient;
  readonly clock: Pick<Clock, "monotonic">;
  /** Of an answer in one piece. */
  readonly answerBytesMax: number;
  /** For what is done with a large answer. */
  readonly step: Steps;
  /** Logs a failure, without content of request or answer. */
  readonly report: (facts: { readonly upstream: string; readonly reason: string }) => void;
};

export function createUpstreams(
  addresses: readonly UpstreamAddress[],
  { client, clock, answerBytesMax, step, report }: UpstreamsDependencies,
): Upstreams {
  const upstreams: readonly Upstream[] = addresses.map((address) => ({
    address,
    breaker: createCircuitBreaker(clock),
    watch: createSilenceWatch((signal) => isHeard(client, address, signal), {
      betweenMs: BETWEEN_QUESTIONS_MS,
    }),
    answeredMs: Number.NEGATIVE_INFINITY,
  }));

  /** Returns null where the upstream fails. */
  async function askOne(upstream: Upstream, call: UpstreamCall, isEntered: boolean) {
    const { address, breaker, watch } = upstream;
    const reply = await askUpstream(client, address, { ...call, answerBytesMax, step });
    if (call.signal.aborted) {
      if (reply.kind === "stream") reply.stream.cancel();
      if (isEntered) breaker.release();
      throw call.signal.reason;
    }
    if (reply.kind !== "failed") {
      breaker.succeed();
      watch.noteReply();
      upstream.answeredMs = clock.monotonic();
      return reply;
    }
    if (isEntered) breaker.fail();
    if (breaker.isOpen()) watch.suspect();
    report({ upstream: new URL(address.baseUrl).host, reason: reply.reason });
    return null;
  }

  return {
    async ask(call) {
      const passedOver: Upstream[] = [];
      for (const upstream of upstreams) {
        const isTried = upstream.breaker.tryEnter();
        if (!isTried) passedOver.push(upstream);
        const reply = isTried ? await askOne(upstream, call, true) : null;
        if (reply !== null) return reply;
      }
      // Calls that an upstream cannot answer cost their sender nothing, so they must not shut the others out.
      for (const upstream of passedOver) {
        if (upstream.watch.isSilent()) continue;
        const reply = await askOne(upstream, call, false);
        if (reply !== null) return reply;
      }
      throw new ApiError("upstream_failed", "No upstream answers. Nothing was charged.");
    },
    states: () =>
      upstreams.map(({ address, breaker, answeredMs }) => ({
        baseUrl: address.baseUrl,
        isOpen: breaker.isOpen(),
        hasAnswered: clock.monotonic() - answeredMs < ANSWERED_WITHIN_MS,
      })),
    async isHeard(baseUrl, signal) {
      const address = addresses.find((one) => one.baseUrl === baseUrl);
      return address !== undefined && (await isHeard(client, address, signal));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(upstreams.map(({ watch }) => watch[Symbol.asyncDispose]()));
    },
  };
}

/** Returns whether an upstream replies, whatever it says. */
async function isHeard(client: HttpClient, address: UpstreamAddress, signal: AbortSignal): Promise<boolean> {
  const { url, headers } = modelsRequest(address);
  const late = AbortSignal.timeout(HEARD_WITHIN_MS);
  const reply = await client.open(url, { headers, signal: AbortSignal.any([signal, late]) });
  if (!reply.ok) return reply.status !== null;
  reply.cancel();
  return true;
}
