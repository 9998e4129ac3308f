import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/app/log.ts";
import { systemPlatform } from "../../src/app/platform.ts";
import { startServer } from "../../src/app/server.ts";
import { readConfig } from "../../src/app/settings.ts";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { jsonOf, keyOf } from "./json.ts";

/** A real server in this process on a port of its own, with a data directory and a DNS of its own. */
export type TestServer = AsyncDisposable & {
  readonly url: string;
  readonly dataDir: string;
  readonly dns: Awaited<ReturnType<typeof startFixtureServer>>;
  /** The log lines so far, parsed. */
  readonly logged: () => readonly { readonly [name: string]: unknown }[];
  /** Signs up and returns the key. */
  readonly signUp: (plan?: string) => Promise<string>;
  /** A call with a key; a body that is no string goes as JSON. */
  readonly call: (path: string, options?: CallOptions) => Promise<Response>;
};

export type CallOptions = {
  readonly key?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
};

/** A DNS with one domain of each kind that the API tests meet. */
export const TEST_ZONE = `
good.com          MX 10 mx.good.com
                  TXT "v=spf1 include:_spf.good.com -all"
_spf.good.com     TXT "v=spf1 ip4:8.8.8.8 -all"
_dmarc.good.com   TXT "v=DMARC1; p=reject"
mx.good.com       A 8.8.8.8
gmail.com         MX 5 gmail-smtp-in.l.google.com
googlemail.com    MX 5 gmail-smtp-in.l.google.com
gmail-smtp-in.l.google.com A 8.8.4.4
null.com          MX 0 .
nomail.com        TXT "hello"
implicit.com      A 8.8.8.8
private.com       MX 10 mx.private.com
mx.private.com    A 10.0.0.1
servfail.com      !servfail
*.many.com        MX 10 mx.good.com
`;

export async function startTestServer(
  options: {
    readonly environment?: { readonly [name: string]: string };
    readonly zone?: string;
    readonly clock?: Clock;
    readonly dataDir?: string;
  } = {},
): Promise<TestServer> {
  const dns = await startFixtureServer({ zone: options.zone ?? TEST_ZONE });
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "assay-test-"));
  const lines: string[] = [];
  const server = await startServer(
    readConfig(
      {
        PORT: "0",
        DATA_DIR: dataDir,
        DNS_SERVERS: dns.address,
        SIGNUPS_PER_MINUTE: "100000",
        ...options.environment,
      },
      2,
    ),
    {
      ...systemPlatform(createLog("info", { write: (line) => void lines.push(line) })),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    },
  );
  const call = (path: string, request: CallOptions = {}) => fetch(server.url + path, requestInit(request));
  let signups = 0;
  return {
    url: server.url,
    dataDir,
    dns,
    call,
    logged: () => lines.map((line) => JSON.parse(line)),
    async signUp(plan = "scale") {
      signups += 1;
      const reply = await call("/v1/signup", { body: { email: `user${signups}@good.com`, plan } });
      return keyOf(reply);
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await dns.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Starts a server for all tests of a file, and ends it after the last of them. */
export async function startFileServer(options?: Parameters<typeof startTestServer>[0]): Promise<TestServer> {
  const server = await startTestServer(options);
  afterAll(() => server[Symbol.asyncDispose]());
  return server;
}

/** A call of a test as `fetch` takes it. */
export function requestInit({ key, method, body, headers, signal }: CallOptions): RequestInit {
  const isText = typeof body === "string" || body instanceof Uint8Array;
  return {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Checks that a reply is a refusal as the contract writes it. */
export async function refusalOf(reply: Response): Promise<string> {
  const body = await jsonOf<{ error: { code: string } }>(reply);
  if (Object.keys(body).join() !== "error") throw new Error(`No envelope: ${JSON.stringify(body)}`);
  if (Object.keys(body.error).sort().join() !== "code,message")
    throw new Error("The envelope has other keys");
  return `${reply.status} ${body.error.code}`;
}
