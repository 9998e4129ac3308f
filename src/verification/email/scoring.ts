import type { Finding } from "../../contract/email-reasons.ts";
import type { EmailStatus } from "../../contract/words.ts";

/** The table of points: what each finding costs, and which status it decides. */

export type ScoringRow = {
  readonly finding: Finding;
  /** Subtracted from 100. Those of the two gibberish findings depend on the score instead. */
  readonly points: number;
  /** The status that this finding gives where no finding above it decides. */
  readonly decides?: Exclude<EmailStatus, "deliverable">;
};

/** By precedence, which is also the order of the reasons. */
export const SCORING: readonly ScoringRow[] = [
  { finding: "invalid_tld", points: 100, decides: "undeliverable" },
  { finding: "reserved_domain", points: 100, decides: "undeliverable" },
  { finding: "domain_not_found", points: 100, decides: "undeliverable" },
  { finding: "null_mx", points: 100, decides: "undeliverable" },
  { finding: "domain_sends_no_mail", points: 100, decides: "undeliverable" },
  { finding: "no_mail_server", points: 100, decides: "undeliverable" },
  { finding: "mx_unroutable", points: 100, decides: "undeliverable" },
  { finding: "mx_unresolvable", points: 100, decides: "undeliverable" },

  { finding: "dns_timeout", points: 45, decides: "unknown" },
  { finding: "dns_error", points: 45, decides: "unknown" },

  { finding: "disposable", points: 65, decides: "risky" },
  { finding: "possible_typo", points: 40, decides: "risky" },
  { finding: "implicit_mx", points: 40, decides: "risky" },
  { finding: "mx_is_ip", points: 40, decides: "risky" },
  { finding: "role_account", points: 25, decides: "risky" },
  /** 28 to 35, by the score. */
  { finding: "gibberish", points: 35, decides: "risky" },

  { finding: "dns_not_checked", points: 45, decides: "unknown" },

  /** 1 to 28, by the score. */
  { finding: "gibberish_suspected", points: 28 },
  { finding: "privacy_relay", points: 5 },
  { finding: "mailbox_not_probed", points: 5 },
  { finding: "mx_partially_broken", points: 5 },
  { finding: "spf_permerror", points: 5 },
  { finding: "spf_pass_all", points: 5 },
  { finding: "spf_missing", points: 4 },
  { finding: "mx_is_cname", points: 3 },
  { finding: "null_mx_mixed", points: 3 },
  { finding: "dmarc_missing", points: 3 },
  { finding: "free_provider", points: 3 },
  { finding: "dmarc_none", points: 1 },
  { finding: "dmarc_reject", points: -2 },
];

/**
 * Lowest and highest score of each status. Those of risky and unknown begin alike, so that a look-up that fails as well
 * cannot raise a score.
 */
export const SCORE_BANDS: Readonly<Record<EmailStatus, readonly [number, number]>> = {
  undeliverable: [0, 0],
  unknown: [20, 50],
  risky: [20, 79],
  deliverable: [80, 100],
};

const GIBBERISH_HARMLESS = 0.5;

/** Returns the points for a gibberish score from 0 to 1: none up to a half, then up to 35. */
export function gibberishPoints(score: number): number {
  return score <= GIBBERISH_HARMLESS ? 0 : Math.round((score - GIBBERISH_HARMLESS) * 70);
}
