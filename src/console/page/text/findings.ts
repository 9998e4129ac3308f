import { REASONS } from "../../../contract/email-reasons.ts";
import { gibberishPoints, SCORING } from "../../../verification/email/scoring.ts";
import type { EmailResult } from "../wire/bodies.ts";

/** A finding as text. */
export type FindingText = {
  readonly name: string;
  readonly meaning: string;
  /** The points that it takes from 100; a negative number adds. */
  readonly points: number;
};

const MEANINGS: { readonly [reason: string]: string } = REASONS;

/** Returns the findings of a result with their points, by the documented table. */
export function findingsOf({ reasons, gibberish_score }: EmailResult): readonly FindingText[] {
  return reasons.map((name) => {
    const row = SCORING.find(({ finding }) => finding === name);
    const isGraded = name === "gibberish" || name === "gibberish_suspected";
    return {
      name,
      meaning: meaningOf(name),
      points: isGraded ? gibberishPoints(gibberish_score) : (row?.points ?? 100),
    };
  });
}

/** Returns the documented sentence, without its backticks. */
function meaningOf(reason: string): string {
  return (MEANINGS[reason] ?? reason.replaceAll("_", " ")).replaceAll("`", "");
}

const CONSEQUENCES: { readonly [status: string]: string } = {
  deliverable: "Mail to this address should arrive.",
  risky: "Mail may arrive; look at the findings before you send.",
  undeliverable: "Mail to this address will not arrive.",
  unknown: "Nothing can be said yet; ask again later.",
};

/** Returns the verdict as a sentence or two. */
export function verdictText({ status, sub_status, reasons }: EmailResult): string {
  const consequence = CONSEQUENCES[status] ?? "";
  if (sub_status === "accepts_mail") return `${consequence} The domain takes mail.`;
  const cause = sub_status === "invalid_syntax" ? (reasons[0] ?? sub_status) : sub_status;
  return `${consequence} ${meaningOf(cause)}`;
}
