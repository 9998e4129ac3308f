import { existsSync } from "node:fs";
import { join } from "node:path";

/** Chains that end with the process: Base by anvil and Solana by litesvm, each with a USDC that can be made. */
export type LocalChains = AsyncDisposable & {
  readonly facilitator: { readonly url: string };
  readonly payeeOnBase: string;
  readonly payeeOnSolana: string;
  /** What the payee has, in millionths of a dollar. */
  readonly received: () => Promise<{ readonly base: bigint; readonly solana: bigint }>;
  readonly newBasePayer: (microUsd: bigint) => Promise<LocalPayer>;
  readonly newSolanaPayer: (microUsd: bigint) => Promise<LocalPayer>;
};

/** An account with a key of its own, and money on one of the chains. */
export type LocalPayer = {
  readonly address: string;
  readonly balance: () => Promise<bigint>;
  /** Pays what answers 402, once. */
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
};

/** They are a package of their own, so that no server ever installs them. */
const FOLDER = join(import.meta.dir, "../../test/payments-chain");
const INSTALL_TIMEOUT_MS = 100_000;

/** Returns whether the packages of the chains are there already. */
export function hasLocalChains(): boolean {
  return existsSync(join(FOLDER, "node_modules"));
}

/** Installs what is missing of the packages of the chains; returns false where that cannot be done. */
export async function installLocalChains(): Promise<boolean> {
  if (!existsSync(join(FOLDER, "package.json"))) return false;
  const install = Bun.spawn([process.execPath, "install", "--cwd", FOLDER, "--frozen-lockfile", "--silent"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    timeout: INSTALL_TIMEOUT_MS,
  });
  return (await install.exited) === 0;
}

/** Starts the chains and a facilitator, all of them by official code. Their packages must be there. */
export async function openLocalChains(): Promise<LocalChains> {
  // Named by a value, so that the types of this project do not depend on packages that may be missing.
  const { openPaymentWorld } = (await import(join(FOLDER, "world.ts"))) as {
    readonly openPaymentWorld: () => Promise<LocalChains>;
  };
  return openPaymentWorld();
}
