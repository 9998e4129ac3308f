import type { CheckFacts, CheckView, Reason } from "../contract/specification/directory/check.ts";
import { otherPayees } from "./asked-payee.ts";
import { askedPrices, hasKnownTokens, priceText } from "./asked-price.ts";

/** Names the rules. They never change under the same name. */
export const JUDGE_RULES_VERSION = "2026-11-3";

/** Below these a verdict would be made up. */
const PROBES_MIN = 20;
const ALLOWED_FROM = 80;
/** The best score of what is denied. */
const DENIED_SCORE_MAX = 20;
const PAYEE_CHANGE_MS = 7 * 86_400_000;
const PLAUSIBLE_USD_MAX = 1000;

/** One rule: when it holds, how it weighs, and what it says. */
export type JudgeRule = {
  readonly code: string;
  readonly severity: Reason["severity"];
  /** What is taken off 100. */
  readonly points: number;
  readonly message: string;
  /** Returns what was seen where the rule holds, else null. */
  readonly evidence: (facts: CheckFacts) => string | null;
};

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;
const isListed = ({ pay_to }: CheckFacts): boolean => pay_to.address !== null;
const when = (holds: boolean, text: string): string | null => (holds ? text : null);

const insteadOfListed = (payee: string | null, { pay_to }: CheckFacts): string | null =>
  payee === null ? null : `${payee} instead of ${pay_to.address}`;

/** All rules, in the order of the reply. */
export const JUDGE_RULES: readonly JudgeRule[] = [
  {
    code: "not_listed",
    severity: "info",
    points: 0,
    message: "The directory does not list this resource.",
    evidence: (facts) => when(!isListed(facts), facts.host),
  },
  {
    code: "few_probes",
    severity: "info",
    points: 0,
    message: "It was probed fewer than 20 times within 30 days.",
    evidence: (facts) => when(isListed(facts) && facts.probes_30d < PROBES_MIN, `${facts.probes_30d} probes`),
  },
  {
    code: "mostly_down",
    severity: "block",
    points: 80,
    message: "It was down at least half of the time.",
    evidence: ({ uptime_30d: up }) => (up === null ? null : when(up < 0.5, percent(up))),
  },
  {
    code: "often_down",
    severity: "warn",
    points: 25,
    message: "It was up less than 90 % of the time.",
    evidence: ({ uptime_30d: up }) => (up === null ? null : when(up >= 0.5 && up < 0.9, percent(up))),
  },
  {
    code: "sometimes_down",
    severity: "info",
    points: 10,
    message: "It was up less than 99 % of the time.",
    evidence: ({ uptime_30d: up }) => (up === null ? null : when(up >= 0.9 && up < 0.99, percent(up))),
  },
  {
    code: "very_slow",
    severity: "warn",
    points: 15,
    message: "Its median reply takes more than 2,500 ms.",
    evidence: ({ median_latency_ms: ms }) => (ms === null ? null : when(ms > 2500, `${Math.round(ms)} ms`)),
  },
  {
    code: "slow",
    severity: "info",
    points: 5,
    message: "Its median reply takes more than 800 ms.",
    evidence: ({ median_latency_ms: ms }) =>
      ms === null ? null : when(ms > 800 && ms <= 2500, `${Math.round(ms)} ms`),
  },
  {
    code: "payment_broken",
    severity: "block",
    points: 80,
    message: "The last probe was not asked to be paid in a way that can be paid.",
    evidence: ({ observed }) => when(observed?.status === "payment_broken", observed?.probed_at ?? ""),
  },
  {
    code: "down_now",
    severity: "warn",
    points: 15,
    message: "The last probe got no answer.",
    evidence: ({ observed }) => when(observed?.status === "down", observed?.probed_at ?? ""),
  },
  {
    code: "probes_blocked",
    severity: "info",
    points: 0,
    message: "It refuses our probes (403 or 429), which says nothing of it.",
    evidence: ({ observed }) => when(observed?.status === "blocked", observed?.probed_at ?? ""),
  },
  {
    code: "payee_mismatch",
    severity: "block",
    points: 80,
    message: "It asks to be paid at another address than the listed one.",
    evidence: (facts) => insteadOfListed(otherPayees(facts).sameKind, facts),
  },
  {
    code: "payee_absent",
    severity: "warn",
    points: 25,
    message:
      "It asks to be paid on another kind of network than the listed address is of, and not at that address.",
    evidence: (facts) => insteadOfListed(otherPayees(facts).instead, facts),
  },
  {
    code: "payee_changed",
    severity: "warn",
    points: 25,
    message: "The address that is paid changed within the last seven days.",
    evidence: ({ pay_to: { changed_at: at }, as_of: asOf }) =>
      at === null ? null : when(Date.parse(asOf) - Date.parse(at) < PAYEE_CHANGE_MS, at),
  },
  {
    code: "payee_shared",
    severity: "info",
    points: 10,
    message: "More than ten other hosts are paid at the same address.",
    evidence: ({ pay_to: { shared_hosts: hosts } }) => when(hosts > 10, `${hosts} other hosts`),
  },
  {
    code: "price_far_off",
    severity: "block",
    points: 80,
    message: "It asks for more than twice the listed price.",
    evidence: ({ price: { drift, listed_usd: listed, observed_usd: observed } }) => {
      if (drift !== null) return when(drift > 1, percent(drift));
      const isListedFree = listed !== null && Number(listed) === 0;
      return when(isListedFree && Number(observed ?? 0) > 0, `${observed} USD instead of 0`);
    },
  },
  {
    code: "price_uneven",
    severity: "warn",
    points: 25,
    message: "One way to pay it costs more than twice as much as another.",
    evidence: (facts) => {
      const [lowest, ...others] = askedPrices(facts);
      const highest = others.at(-1);
      if (lowest === undefined || highest === undefined) return null;
      const isUneven = highest.microUsd > 2n * lowest.microUsd;
      return when(isUneven, `${priceText(highest)}, ${priceText(lowest)}`);
    },
  },
  {
    code: "price_drift",
    severity: "warn",
    points: 15,
    message: "The price that it asks for is off the listed one by more than 1 %.",
    evidence: ({ price: { drift } }) =>
      drift === null ? null : when(drift <= 1 && Math.abs(drift) > 0.01, percent(drift)),
  },
  {
    code: "price_implausible",
    severity: "block",
    points: 80,
    message: "One call costs more than 1,000 USD.",
    evidence: (facts) => {
      const highest = askedPrices(facts).at(-1);
      const isFar = highest !== undefined && highest.microUsd > BigInt(PLAUSIBLE_USD_MAX) * 1_000_000n;
      if (isFar) return priceText(highest);
      const usd = facts.price.observed_usd ?? facts.price.listed_usd;
      return usd === null ? null : when(Number(usd) > PLAUSIBLE_USD_MAX, `${usd} USD`);
    },
  },
  {
    code: "token_unknown",
    severity: "warn",
    points: 15,
    message: "It asks for no token of a main network that is known here, so its price cannot be compared.",
    evidence: (facts) => {
      const ways = facts.observed?.accepts ?? [];
      const odd = ways.find(({ network }) => hasKnownTokens(network));
      return when(askedPrices(facts).length === 0 && odd !== undefined, `${odd?.asset} on ${odd?.network}`);
    },
  },
  {
    code: "price_unknown",
    severity: "info",
    points: 5,
    message: "No single price is known.",
    evidence: (facts) => {
      const { listed_usd: listed, observed_usd: observed } = facts.price;
      return when(isListed(facts) && listed === null && observed === null, "no price");
    },
  },
  {
    code: "stale",
    severity: "info",
    points: 0,
    message: "The directory was not brought up to date for three intervals.",
    evidence: ({ stale, as_of: asOf }) => when(stale, asOf),
  },
];

/** Returns verdict, score and reasons. Pure: the same facts give the same verdict, anywhere and at any time. */
export function judge(facts: CheckFacts): Pick<CheckView, "verdict" | "score" | "reasons"> {
  const held = JUDGE_RULES.flatMap((rule) => {
    const evidence = rule.evidence(facts);
    return evidence === null ? [] : [{ rule, evidence }];
  });
  const reasons = held.map(({ rule: { code, severity, message }, evidence }) => ({
    code,
    severity,
    message,
    evidence,
  }));
  if (!isListed(facts) || facts.probes_30d < PROBES_MIN) return { verdict: "unrated", score: null, reasons };
  const lost = held.reduce((sum, { rule }) => sum + rule.points, 0);
  const score = Math.max(0, 100 - lost);
  const has = (severity: Reason["severity"]) => reasons.some((reason) => reason.severity === severity);
  if (has("block")) return { verdict: "deny", score: Math.min(score, DENIED_SCORE_MAX), reasons };
  return { verdict: has("warn") || score < ALLOWED_FROM ? "review" : "allow", score, reasons };
}
