import type { HttpClient } from "../net/http-client.ts";
import { isDisallowed, pathOf, ROBOTS_LENGTH_MAX, type RobotsRules, robotsRules } from "../net/robots.ts";
import type { Clock } from "../platform/clock.ts";

/** Knows which resources a robots.txt keeps the prober from. */
export type OptOuts = {
  /** Checks the host's robots.txt, which is fetched again once the cached one is old. Never rejects. */
  readonly keepsOut: (url: string, signal: AbortSignal) => Promise<boolean>;
};

/** The product token of the User-Agent, which robots.txt may name. */
export const PROBE_AGENT = "assay-probe";

const KNOWN_MS = 86_400_000;
/** Cached where there was no answer: the rules from before hold, without any the host is probed; it is asked again soon. */
const UNKNOWN_MS = 3_600_000;
/** The oldest is evicted first: for a directory of 200,000 hosts, nearly all of which name no agent of ours. */
const ORIGINS_MAX = 200_000;
/** Of all rules that are kept, with the texts that they hold. */
const BYTES_MAX = 16_777_216;
/** As measured, with its pattern. */
const RULE_BYTES = 100;

/** The cached robots.txt of a host. */
type Answered = {
  readonly rules: RobotsRules;
  readonly bytes: number;
  readonly isAnswered: boolean;
};
const NO_RULES: Answered = { rules: [], bytes: 0, isAnswered: false };
type Known = { readonly answered: Promise<Answered>; untilMs: number; bytes: number };

export function createOptOuts({
  client,
  clock,
}: {
  readonly client: HttpClient;
  readonly clock: Clock;
}): OptOuts {
  const known = new Map<string, Known>();
  let heldBytes = 0;

  function forget(origin: string): void {
    heldBytes -= known.get(origin)?.bytes ?? 0;
    known.delete(origin);
  }

  function evict(): void {
    for (const oldest of known.keys()) {
      if (known.size <= ORIGINS_MAX && heldBytes <= BYTES_MAX) return;
      forget(oldest);
    }
  }

  async function ask(
    origin: string,
    former: Promise<Answered> | undefined,
    signal: AbortSignal,
  ): Promise<Answered> {
    const reply = await client.send(`${origin}/robots.txt`, {
      signal,
      truncateBody: true,
      bodyBytesMax: ROBOTS_LENGTH_MAX,
    });
    if (!reply.ok || isFailing(reply.status)) return { ...((await former) ?? NO_RULES), isAnswered: false };
    if (reply.status !== 200) return { ...NO_RULES, isAnswered: true };
    const text = new TextDecoder().decode(reply.body);
    const rules = robotsRules(text, PROBE_AGENT);
    const bytes = rules.length === 0 ? 0 : text.length + rules.length * RULE_BYTES;
    return { rules, bytes, isAnswered: true };
  }

  function answerOf(origin: string, signal: AbortSignal): Promise<Answered> {
    const found = known.get(origin);
    if (found !== undefined && clock.monotonic() < found.untilMs) return found.answered;
    forget(origin);
    const answered = ask(origin, found?.answered, signal).then((answer) => {
      entry.untilMs = clock.monotonic() + (answer.isAnswered ? KNOWN_MS : UNKNOWN_MS);
      if (known.get(origin) === entry) {
        entry.bytes = answer.bytes;
        heldBytes += answer.bytes;
        evict();
      }
      return answer;
    });
    const entry: Known = { answered, untilMs: Number.POSITIVE_INFINITY, bytes: 0 };
    known.set(origin, entry);
    evict();
    return answered;
  }

  return {
    async keepsOut(url, signal) {
      const origin = URL.parse(url)?.origin ?? "null";
      if (origin === "null") return false;
      const { rules } = await answerOf(origin, signal);
      return isDisallowed(rules, pathOf(url));
    },
  };
}

/** A status that says nothing of the file: 5xx (RFC 9309, 2.3.1.4), and too many requests. */
function isFailing(status: number): boolean {
  return status >= 500 || status === 429;
}
