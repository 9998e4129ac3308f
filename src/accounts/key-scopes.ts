import { KEY_SCOPES, type KeyScope } from "../contract/words.ts";

/** Returns scopes as the store keeps them, each once. */
export function writtenScopes(scopes: readonly KeyScope[]): string {
  return KEY_SCOPES.filter((scope) => scopes.includes(scope)).join(" ");
}

/** Returns the scopes of a text of the store, in the order of KEY_SCOPES. */
export function readScopes(text: string): readonly KeyScope[] {
  const words = text.split(" ");
  return KEY_SCOPES.filter((scope) => words.includes(scope));
}

/** Returns whether a key may make a call that needs one of some scopes: with `account` it may make all. */
export function allows(scopes: readonly KeyScope[], needed: readonly KeyScope[]): boolean {
  return scopes.includes("account") || needed.some((scope) => scopes.includes(scope));
}
