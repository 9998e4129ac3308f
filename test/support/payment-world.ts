import { join } from "node:path";
import { installLocalChains } from "../../src/demo/local-chains.ts";

/** Local chains with a facilitator and payers; they are packages of their own, which the server never needs. */

const FOLDER = join(import.meta.dir, "../payments-chain");

export type FacilitatorFault =
  | "down"
  | "verify hangs"
  | "settle hangs"
  | "settle fails before broadcast"
  | "settle fails after broadcast"
  | "settle hangs after broadcast"
  | "settle denies after broadcast";

export type WorldPayer = {
  readonly address: string;
  readonly balance: () => Promise<bigint>;
  /** Pays what answers 402, once. */
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  readonly fetchV1: (url: string, init?: RequestInit) => Promise<Response>;
  /** Returns OpenAI's own client, which pays for its calls. */
  readonly openAi: (baseUrl: string) => PayingOpenAi;
  /** Returns the paid call without sending it. */
  readonly sign: (url: string, body: string, type?: string) => Promise<PaidRequest>;
};

/** The calls of OpenAI's client that tests make. */
export type PayingOpenAi = {
  readonly chat: {
    readonly completions: {
      create(body: object & { readonly stream: true }, options?: object): Promise<AsyncIterable<ChatChunk>>;
      create(body: object, options?: object): Promise<ChatAnswer>;
    };
  };
  readonly models: { list(): AsyncIterable<{ readonly id: string }> };
};

export type ChatAnswer = {
  readonly choices: readonly {
    readonly message: { readonly content: string | null; readonly tool_calls?: readonly object[] };
    readonly finish_reason: string;
  }[];
  readonly receipt: string;
  readonly verify_url: string;
};

export type ChatChunk = {
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null; readonly tool_calls?: readonly object[] };
  }[];
  readonly receipt?: string;
  readonly verify_url?: string;
};

/** A paid POST, to be sent as often as a test likes. */
export type PaidRequest = {
  readonly url: string;
  readonly method: "POST";
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
};

export type PaymentWorld = AsyncDisposable & {
  readonly facilitator: {
    readonly url: string;
    /** Holds for what comes after it. */
    readonly setFault: (fault: FacilitatorFault | null) => Promise<void>;
  };
  readonly payeeOnBase: string;
  readonly payeeOnSolana: string;
  readonly received: () => Promise<{ readonly base: bigint; readonly solana: bigint }>;
  readonly newBasePayer: (microUsd: bigint) => Promise<WorldPayer>;
  readonly newSolanaPayer: (microUsd: bigint) => Promise<WorldPayer>;
};

/** Returns what the audit of AgentCash says of a service, or null where its packages cannot be installed. */
export async function auditService(origin: string): Promise<readonly string[] | null> {
  if (!(await installPackages())) return null;
  const { auditService: audit } = (await import(join(FOLDER, "discovery-audit.ts"))) as {
    readonly auditService: (origin: string) => Promise<readonly string[]>;
  };
  return audit(origin);
}

/** Opens the world, or returns null, with a line that says so, where its packages cannot be installed. */
export async function openWorld(): Promise<PaymentWorld | null> {
  if (!(await installPackages())) return null;
  // Named by a value, so that the types of this project do not depend on packages that may be missing.
  const { openPaymentWorld } = (await import(join(FOLDER, "world.ts"))) as {
    readonly openPaymentWorld: () => Promise<PaymentWorld>;
  };
  return openPaymentWorld();
}

async function installPackages(): Promise<boolean> {
  if (await installLocalChains()) return true;
  console.log(
    "payments: the packages of test/payments-chain cannot be installed here; real settlement is skipped",
  );
  return false;
}
