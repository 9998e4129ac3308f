import type { AccountView } from "../../src/accounts/account-view.ts";
import { jsonOf, keyOf } from "./json.ts";
import { type CallOptions, requestInit } from "./server.ts";

/** Calls to a server that runs somewhere. */
export type Caller = {
  readonly call: (path: string, options?: CallOptions) => Promise<Response>;
  /** Signs up with a new mailbox of good.com and returns the key. */
  readonly signUp: (plan?: string) => Promise<string>;
  readonly accountOf: (key: string) => Promise<AccountView>;
  /** The units on disk, as the account shows them. */
  readonly unitsOf: (key: string) => Promise<number>;
};

const POLL_MS = 10;

export function callerOf(url: string): Caller {
  const call = (path: string, options: CallOptions = {}) => fetch(url + path, requestInit(options));
  const view = async (key: string) => {
    let reply = await call("/v1/account", { key });
    // An account that has just used its rate up is asked again once it may be.
    for (; reply.status === 429; reply = await call("/v1/account", { key })) await Bun.sleep(POLL_MS);
    return jsonOf<AccountView>(reply);
  };
  return {
    call,
    async signUp(plan = "scale") {
      const email = `owner.${crypto.randomUUID().slice(0, 8)}@good.com`;
      const reply = await call("/v1/signup", { body: { email, plan } });
      if (reply.status !== 201) throw new Error(`No account: ${reply.status} ${await reply.text()}`);
      return keyOf(reply);
    },
    accountOf: view,
    unitsOf: async (key) => (await view(key)).usage.units,
  };
}

/** A DNS for the faults: good.com takes mail, and so does whatever is under many.com. */
export const FAULT_ZONE = `
*.many.com   MX 10 mx.good.com
good.com     MX 10 mx.good.com
mx.good.com  A 8.8.8.8
`;

/** Waits until something holds; throws with its name when that takes too long. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  deadlineMs = 10_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`After ${deadlineMs} ms there is still no ${what}`);
    await Bun.sleep(POLL_MS);
  }
}

/** The value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
