import type { Finding } from "../../contract/email-reasons.ts";
import type { EmailStatus, EmailSubStatus } from "../../contract/words.ts";
import { GIBBERISH_THRESHOLD } from "./gibberish.ts";
import { gibberishPoints, SCORE_BANDS, SCORING, type ScoringRow } from "./scoring.ts";

/**
 * The verdict on a set of findings: the first in the table of points that decides gives status and sub_status, every
 * finding subtracts its points, and the score is clamped to the band of the status.
 */

/** Returns the finding for a gibberish score, or null where it costs no points. */
export function gibberishFinding(score: number): Finding | null {
  if (score > GIBBERISH_THRESHOLD) return "gibberish";
  return gibberishPoints(score) > 0 ? "gibberish_suspected" : null;
}

export type Verdict = {
  readonly status: EmailStatus;
  readonly sub_status: EmailSubStatus;
  readonly score: number;
  readonly reasons: readonly Finding[];
};

/** Returns the verdict on the findings about one address. The gibberish score counts only with one of its findings. */
export function verdictOf(findings: ReadonlySet<Finding>, gibberish = 0): Verdict {
  const rows = SCORING.filter((row) => findings.has(row.finding));
  const cause = rows.find((row) => row.decides !== undefined);
  const status = cause?.decides ?? "deliverable";
  const lost = rows.reduce((sum, row) => sum + pointsOf(row, gibberish), 0);
  const [least, most] = SCORE_BANDS[status];
  return {
    status,
    sub_status: cause === undefined ? "accepts_mail" : (cause.finding as EmailSubStatus),
    score: Math.min(Math.max(100 - lost, least), most),
    reasons: reasonsOf(rows, status),
  };
}

function pointsOf(row: ScoringRow, gibberish: number): number {
  const isGraded = row.finding === "gibberish" || row.finding === "gibberish_suspected";
  return isGraded ? gibberishPoints(gibberish) : row.points;
}

/** Returns all findings; of an undeliverable address the first, which decides, and a typo, which can be corrected. */
function reasonsOf(rows: readonly ScoringRow[], status: EmailStatus): readonly Finding[] {
  const findings = rows.map((row) => row.finding);
  if (status !== "undeliverable") return findings;
  return findings.filter((finding, at) => at === 0 || finding === "possible_typo");
}
