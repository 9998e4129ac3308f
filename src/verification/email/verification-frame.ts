import type { EmailVerification } from "./email-verification.ts";

/**
 * The JSON of a verification with gaps for what differs among the addresses of one verdict: to fill them takes less
 * than half of the time of writing the whole. All but `beforeScore` recurs with other mail hosts.
 */
export type VerificationFrame = {
  readonly beforeEmail: string;
  readonly beforeNormalized: string;
  readonly beforeScore: string;
  readonly afterScore: string;
};

/** Inside a JSON string every quote is escaped, so these are found nowhere else. */
const GAPS = /(?<="(?:email|normalized|gibberish_score)":)null/;

/** Longer frames are not kept: those of domains with dozens of hosts. */
const FRAME_CHARACTERS_MAX = 1_024;

/** The frame that this verification is an example of; null where it is too long to be kept. */
export function frameOf(example: EmailVerification): VerificationFrame | null {
  const json = JSON.stringify({ ...example, email: null, normalized: null, gibberish_score: null });
  if (json.length > FRAME_CHARACTERS_MAX) return null;
  const [start, status, mail, reasons] = json.split(GAPS);
  return {
    beforeEmail: shared(`${start}"`),
    beforeNormalized: shared(`"${status}"`),
    beforeScore: inOnePiece(`"${mail}`),
    afterScore: shared(`${reasons}`),
  };
}

/** What `JSON.stringify` writes of the verification. Neither text may hold what JSON escapes. */
export function fillFrame(
  { beforeEmail, beforeNormalized, beforeScore, afterScore }: VerificationFrame,
  email: string,
  normalized: string,
  gibberishScore: number,
): string {
  const score = SCORES[Math.round(gibberishScore * 1000)] ?? JSON.stringify(gibberishScore);
  return `${beforeEmail}${email}${beforeNormalized}${normalized}${beforeScore}${score}${afterScore}`;
}

/** Scores as JSON has them, by thousandths: the verifier rounds to these. */
const SCORES = Array.from({ length: 1001 }, (_, thousandths) => JSON.stringify(thousandths / 1000));

const SHARED_MAX = 1_024;
const sharedTexts = new Map<string, string>();

/** One text for all that are alike: thousands of copies would never be at hand in the cache of a core. */
function shared(text: string): string {
  const known = sharedTexts.get(text);
  if (known !== undefined) return known;
  const one = inOnePiece(text);
  if (sharedTexts.size < SHARED_MAX) sharedTexts.set(one, one);
  return one;
}

/** Returns a flat copy of a text: one that was sliced or concatenated stays so, and every reader pays for that. */
function inOnePiece(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
