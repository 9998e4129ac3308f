import { wordsOf } from "../text/format.ts";

const TONES: { readonly [word: string]: string } = {
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
  changed: "warn",
  undeliverable: "bad",
  invalid: "bad",
  failed: "bad",
  failing: "bad",
  fail: "bad",
  disabled: "bad",
  revoked: "bad",
  ended: "bad",
  running: "accent",
  queued: "accent",
  receiving: "accent",
  cancelling: "accent",
  sending: "accent",
  score: "accent",
};

/** A state as a word in its colour; the word alone says it all. */
export function Badge({ word, text = wordsOf(word) }: { readonly word: string; readonly text?: string }) {
  return <span class={`badge ${TONES[word] ?? "plain"}`}>{text}</span>;
}
