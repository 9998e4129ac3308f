import type { Answer } from "../platform/answer.ts";

/** A public key (Ed25519): its thumbprint, and its point in base64url. */
export type SharedKey = { readonly kid: string; readonly x: string };

// What the processes of a cluster share of their signing keys. Private keys never leave the node that made them.

export type SigningPort = {
  /** Publishes keys beside those of all other processes. What was published stays, as it may have signed. */
  readonly shareSigningKeys: (keys: readonly SharedKey[]) => Answer<void>;
  /** Returns the keys of all processes that there have been, the last published first. */
  readonly sharedSigningKeys: () => Answer<readonly SharedKey[]>;
};
