import type { HttpClient } from "../net/http-client.ts";
import { isDisallowed, pathOf, robotsRules } from "../net/robots.ts";
import type { Clock } from "../platform/clock.ts";

/** Knows which resources a robots.txt keeps the prober from. */
export type OptOuts = {
  /** Asks the host for its robots.txt where what is known of it is old. Never rejects. */
  readonly keepsOut: (url: string, signal: AbortSignal) => Promise<boolean>;
};

/** What a server sees of the prober, and what robots.txt may name to keep it out. */
export const PROBE_AGENT = "assay-probe";

const KNOWN_MS = 86_400_000;
/** Where nobody answered: the host is probed, so that it is seen to be down, and asked again soon. */
const UNKNOWN_MS = 3_600_000;
const ROBOTS_BYTES_MAX = 65_536;
/** The oldest is evicted first: for a directory of 200,000 hosts, nearly all of which name no agent of ours. */
const ORIGINS_MAX = 200_000;
/** Of all rules that name it. */
const CHARS_MAX = 16_777_216;

type Known = { readonly rules: Promise<string>; untilMs: number; chars: number };

export function createOptOuts({
  client,
  clock,
}: {
  readonly client: HttpClient;
  readonly clock: Clock;
}): OptOuts {
  const known = new Map<string, Known>();
  let chars = 0;

  function forget(origin: string): void {
    chars -= known.get(origin)?.chars ?? 0;
    known.delete(origin);
  }

  function evict(): void {
    for (const oldest of known.keys()) {
      if (known.size <= ORIGINS_MAX && chars <= CHARS_MAX) return;
      forget(oldest);
    }
  }

  async function ask(origin: string, signal: AbortSignal): Promise<{ rules: string; isAnswered: boolean }> {
    const reply = await client.send(`${origin}/robots.txt`, {
      signal,
      truncateBody: true,
      bodyBytesMax: ROBOTS_BYTES_MAX,
    });
    if (!reply.ok || reply.status !== 200) return { rules: "", isAnswered: reply.ok };
    const text = new TextDecoder().decode(reply.body);
    return { rules: text.toLowerCase().includes(PROBE_AGENT) ? text : "", isAnswered: true };
  }

  function rulesOf(origin: string, signal: AbortSignal): Promise<string> {
    const found = known.get(origin);
    if (found !== undefined && clock.monotonic() < found.untilMs) return found.rules;
    forget(origin);
    const asked = ask(origin, signal).then(({ rules, isAnswered }) => {
      entry.untilMs = clock.monotonic() + (isAnswered ? KNOWN_MS : UNKNOWN_MS);
      if (known.get(origin) === entry) {
        entry.chars = rules.length;
        chars += rules.length;
        evict();
      }
      return rules;
    });
    const entry: Known = { rules: asked, untilMs: Number.POSITIVE_INFINITY, chars: 0 };
    known.set(origin, entry);
    evict();
    return asked;
  }

  return {
    async keepsOut(url, signal) {
      const origin = URL.parse(url)?.origin ?? "null";
      if (origin === "null") return false;
      const rules = await rulesOf(origin, signal);
      return rules !== "" && isDisallowed(robotsRules(rules, PROBE_AGENT), pathOf(url));
    },
  };
}
