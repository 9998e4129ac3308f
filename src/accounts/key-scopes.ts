import { KEY_SCOPES, type KeyScope } from "../contract/words.ts";

/** Returns scopes as stored text, without repetitions. */
export function writtenScopes(scopes: readonly KeyScope[]): string {
  return KEY_SCOPES.filter((scope) => scopes.includes(scope)).join(" ");
}

/** Parses stored scopes, in the order of KEY_SCOPES. */
export function readScopes(text: string): readonly KeyScope[] {
  const words = text.split(" ");
  return KEY_SCOPES.filter((scope) => words.includes(scope));
}

/** Returns whether a key has one of the scopes that a call needs; `account` covers all. */
export function allows(scopes: readonly KeyScope[], needed: readonly KeyScope[]): boolean {
  return scopes.includes("account") || needed.some((scope) => scopes.includes(scope));
}
