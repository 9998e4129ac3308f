import { startInferenceService } from "../../src/app/inference-service.ts";
import { readInferenceServiceConfig } from "../../src/app/inference-settings.ts";
import { createLog } from "../../src/app/log.ts";
import { systemPlatform } from "../../src/app/platform.ts";
import { type MadeUpChat, startMadeUpChat } from "../../src/tools/made-up-chat.ts";
import {
  MADE_UP_PAYEE,
  type MadeUpFacilitator,
  payFor,
  startMadeUpFacilitator,
} from "./made-up-facilitator.ts";
import { temporaryFolder } from "./process.ts";

export type InferenceWorld = AsyncDisposable & {
  readonly url: string;
  readonly upstream: MadeUpChat;
  readonly facilitator: MadeUpFacilitator;
  readonly dataDir: string;
  /** Puts the service's clock forward. */
  readonly advance: (ms: number) => void;
  /** Lets time pass for all that the service measures, too, but not for its timers. */
  readonly pass: (ms: number) => void;
  /** Stops the service and starts it again on the same data. */
  readonly restart: () => Promise<void>;
  /** Sends a body to a path, and once more with a payment where that is asked for. */
  readonly pay: (path: string, body: unknown, init?: RequestInit) => Promise<Response>;
};

/** Starts the service on made-up platform: an upstream, and a facilitator that takes every payment. */
export async function openInferenceWorld(
  environment: { readonly [name: string]: string } = {},
): Promise<InferenceWorld> {
  const upstream = startMadeUpChat();
  const facilitator = startMadeUpFacilitator();
  const folder = temporaryFolder("inference");
  const system = systemPlatform(createLog("silent"));
  let aheadMs = 0;
  let passedMs = 0;
  const { clock } = system;
  const platform = {
    ...system,
    clock: { ...clock, now: () => clock.now() + aheadMs, monotonic: () => clock.monotonic() + passedMs },
  };
  const config = (port: number) =>
    readInferenceServiceConfig({
      PORT: String(port),
      DATA_DIR: folder.path,
      LOG_LEVEL: "silent",
      PAY_TO_EVM: MADE_UP_PAYEE,
      X402_FACILITATOR: facilitator.url,
      INFERENCE_UPSTREAM: upstream.url,
      SHUTDOWN_GRACE_SECONDS: "1",
      ...environment,
    });
  let server = await startInferenceService(config(0), platform);
  const { url } = server;
  return {
    url,
    upstream,
    facilitator,
    dataDir: folder.path,
    advance(ms) {
      aheadMs += ms;
    },
    pass(ms) {
      aheadMs += ms;
      passedMs += ms;
    },
    async restart() {
      await server.stop();
      server = await startInferenceService(config(Number(new URL(url).port)), platform);
    },
    async pay(path, body, init = {}) {
      const call = {
        method: "POST",
        ...init,
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { "Content-Type": "application/json", ...init.headers },
      };
      const refused = await fetch(`${url}${path}`, call);
      if (refused.status !== 402) return refused;
      await refused.text();
      const { "PAYMENT-SIGNATURE": signature } = payFor(refused);
      return await fetch(`${url}${path}`, {
        ...call,
        headers: { ...call.headers, "PAYMENT-SIGNATURE": signature },
      });
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      upstream[Symbol.dispose]();
      facilitator[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}
