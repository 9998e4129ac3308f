import type { CheckResource } from "../judge/check.ts";
import type { Clock } from "../platform/clock.ts";
import type { SigningKey } from "../signing/signing-key.ts";
import type { Config } from "./settings.ts";

/** The judging check and the key that signs it: neither is loaded before somebody asks. */
export type Judging = {
  readonly loadCheck: () => Promise<CheckResource>;
  readonly signingKey: () => Promise<SigningKey>;
};

export function createJudging({ dataDir }: Pick<Config, "dataDir">, { monotonic }: Clock): Judging {
  let key: Promise<SigningKey> | null = null;
  const signingKey = () => {
    key ??= import("../signing/signing-key.ts").then(({ openSigningKey }) => openSigningKey(dataDir));
    return key;
  };
  return {
    signingKey,
    async loadCheck() {
      const [{ createCheck }, opened] = await Promise.all([import("../judge/check.ts"), signingKey()]);
      return createCheck({ signingKey: () => opened, ownEvidence: () => null, monotonic });
    },
  };
}
