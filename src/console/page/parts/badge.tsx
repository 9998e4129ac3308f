import { wordsOf } from "../text/format.ts";

export type Tone = "good" | "warn" | "bad" | "accent" | "plain";

/** Of the words that the API has for states. */
const TONES: { readonly [word: string]: Tone } = {
  deliverable: "good",
  valid: "good",
  completed: "good",
  pass: "good",
  healthy: "good",
  delivered: "good",
  enabled: "good",
  issued: "good",
  risky: "warn",
  paused: "warn",
  warn: "warn",
  degraded: "warn",
  pending: "warn",
  test: "warn",
  undeliverable: "bad",
  invalid: "bad",
  failed: "bad",
  failing: "bad",
  fail: "bad",
  disabled: "bad",
  revoked: "bad",
  running: "accent",
  queued: "accent",
  receiving: "accent",
  cancelling: "accent",
  sending: "accent",
};

/** A state in its colour; the words alone say it all. A word of the API brings its tone. */
export function Badge({
  word,
  tone = TONES[word] ?? "plain",
}: {
  readonly word: string;
  readonly tone?: Tone;
}) {
  return <span class={`badge ${tone}`}>{wordsOf(word)}</span>;
}
