import type { EmailVerification } from "./email-verification.ts";

/**
 * A template of a verification's JSON, with gaps for what differs among the addresses of one verdict: filling it takes
 * less than half the time of `JSON.stringify`. All texts but `beforeScore` recur with other mail hosts.
 */
export type VerificationFrame = {
  readonly beforeEmail: string;
  readonly beforeNormalized: string;
  readonly beforeScore: string;
  readonly afterScore: string;
};

/** Quotes within a JSON string are escaped, so only the fields match. */
const GAPS = /(?<="(?:email|normalized|gibberish_score)":)null/;

/** Longer frames are not kept: those of domains with dozens of hosts. */
const FRAME_CHARACTERS_MAX = 1_024;

/** Returns the frame of verifications like this one; null where it is too long to keep. */
export function frameOf(example: EmailVerification): VerificationFrame | null {
  const json = JSON.stringify({ ...example, email: null, normalized: null, gibberish_score: null });
  if (json.length > FRAME_CHARACTERS_MAX) return null;
  const [start, status, mail, reasons] = json.split(GAPS);
  return {
    beforeEmail: interned(`${start}"`),
    beforeNormalized: interned(`"${status}"`),
    beforeScore: flattened(`"${mail}`),
    afterScore: interned(`${reasons}`),
  };
}

/** Returns what `JSON.stringify` returns for the verification. Neither text may contain what JSON escapes. */
export function fillFrame(
  { beforeEmail, beforeNormalized, beforeScore, afterScore }: VerificationFrame,
  email: string,
  normalized: string,
  gibberishScore: number,
): string {
  const score = SCORES[Math.round(gibberishScore * 1000)] ?? JSON.stringify(gibberishScore);
  return `${beforeEmail}${email}${beforeNormalized}${normalized}${beforeScore}${score}${afterScore}`;
}

/** The JSON of scores by thousandths, to which the verifier rounds. */
const SCORES = Array.from({ length: 1001 }, (_, thousandths) => JSON.stringify(thousandths / 1000));

const INTERNED_MAX = 1_024;
const internedTexts = new Map<string, string>();

/** Returns the same string for equal texts: thousands of copies would not stay in the CPU cache. */
function interned(text: string): string {
  const known = internedTexts.get(text);
  if (known !== undefined) return known;
  const one = flattened(text);
  if (internedTexts.size < INTERNED_MAX) internedTexts.set(one, one);
  return one;
}

/** Returns a flat copy of a text: a slice or a rope remains one, which makes every read slower. */
function flattened(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
