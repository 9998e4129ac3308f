import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/app/log.ts";
import { systemPlatform } from "../../src/app/platform.ts";
import { startScanService } from "../../src/app/scan-service.ts";
import { readScanServiceConfig } from "../../src/app/service-settings.ts";
import { MADE_UP_PAYEE, payFor } from "../support/made-up-facilitator.ts";

/** A scanning service in this process, on a port and a data directory of its own. */
export type ScanServer = AsyncDisposable & {
  readonly url: string;
  readonly dataDir: string;
  readonly logged: () => string;
  /** Calls without a payment. */
  readonly call: (path: string, init?: RequestInit) => Promise<Response>;
  /** Asks for a scan, pays what it costs, and returns the reply with the payment that bought it. */
  readonly scan: (body: object) => Promise<Response>;
};

export async function startScanServer(options: {
  readonly facilitatorUrl: string;
  readonly environment?: { readonly [name: string]: string };
  readonly patienceMs?: number;
}): Promise<ScanServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "assay-scan-"));
  const lines: string[] = [];
  const config = readScanServiceConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    PAY_TO_EVM: MADE_UP_PAYEE,
    X402_FACILITATOR: options.facilitatorUrl,
    SCAN_ALLOW_PRIVATE: "true",
    LOG_LEVEL: "error",
    ...options.environment,
  });
  const log = createLog("error", { write: (line) => void lines.push(line) });
  const { patienceMs = config.patienceMs } = options;
  const server = await startScanService({ ...config, patienceMs }, systemPlatform(log));
  return {
    url: server.url,
    dataDir,
    logged: () => lines.join(""),
    call: (path, init) => fetch(server.url + path, init),
    scan: (body) => payForScan(server.url, body),
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Asks a scanning service for a scan, and pays what it costs. */
export async function payForScan(url: string, body: object): Promise<Response> {
  const post = (headers: { readonly [name: string]: string } = {}) =>
    fetch(`${url}/v1/scan`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const refused = await post();
  if (refused.status !== 402) return refused;
  const { "PAYMENT-SIGNATURE": signature } = payFor(refused);
  return post({ "PAYMENT-SIGNATURE": signature });
}
