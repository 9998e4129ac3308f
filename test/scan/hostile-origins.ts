import { gzipSync } from "node:zlib";
import { type RawServer, startRawServer } from "../support/raw-server.ts";

/** Services that want to hold a scan, to fill its memory, or to lead it elsewhere. */
export type HostileOrigins = Disposable & {
  /** By what they do. */
  readonly origins: { readonly [kind: string]: string };
  /** How often the server was reached that none of them may lead to. */
  readonly secretReached: () => number;
};

const OK = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const whole = (body: string | Buffer, more = "") =>
  Buffer.concat([Buffer.from(`${OK}${more}Content-Length: ${body.length}\r\n\r\n`), Buffer.from(body)]);
/** More than what is kept of any file. */
const LENGTH = 300_000;
const lines = (line: string) => line.repeat(Math.ceil(LENGTH / line.length));

type Answer = Parameters<typeof startRawServer>[0];

/** Writes the same again and again until the other end has enough. */
const endless =
  (head: string, part: string, everyMs: number): Answer =>
  (socket) => {
    socket.write(head);
    const timer = setInterval(() => void socket.write(part), everyMs);
    socket.on("close", () => clearInterval(timer));
  };

/** What throws when it is made a text or a number. */
const ODD = { toString: 1, valueOf: 1 };
const ODD_ENTRY = {
  scheme: ODD,
  network: ODD,
  amount: ODD,
  asset: ODD,
  payTo: ODD,
  maxTimeoutSeconds: ODD,
  extra: ODD,
};
const ODD_OPERATION = { "x-payment-info": { price: { amount: ODD } }, responses: { 402: ODD } };
const ODD_DOCUMENT = {
  openapi: "3.1.0",
  paths: { "//[": { get: ODD_OPERATION }, "/paid": { get: ODD_OPERATION } },
};
const ENTRY = { scheme: "exact", network: "eip155:8453", amount: "1", asset: "0xa5", payTo: "0xbb" };

function challenge(entry: object, count: number): Buffer {
  return challengeOf(
    JSON.stringify({ x402Version: 2, resource: { url: ODD }, accepts: Array(count).fill(entry) }),
  );
}

function challengeOf(json: string): Buffer {
  const header = Buffer.from(json).toString("base64");
  return Buffer.from(
    `HTTP/1.1 402 Payment Required\r\nPAYMENT-REQUIRED: ${header}\r\nContent-Length: 2\r\n\r\n{}`,
  );
}

/** Paths that all ask to be paid, as many as a scan looks at. */
const manifest = (origin: string) =>
  JSON.stringify({ version: 1, resources: Array.from({ length: 100 }, (_, n) => `${origin}/paid/${n}`) });

/** 4,000 rules for scans, none of which holds, though each has to be looked for to the end of an address. */
const LONG_RULES = `user-agent: assay-scan\n${"disallow:/*bbbc\n".repeat(4000)}`;
const longPaths = (folder: string) =>
  Array.from({ length: 300 }, (_, n) => `/${folder}/${n}/${"b".repeat(780)}`);
const longManifest = (origin: string) =>
  JSON.stringify({ version: 1, resources: longPaths("m").map((path) => `${origin}${path}`) });
const longDocument = () =>
  JSON.stringify({
    openapi: "3.1.0",
    paths: Object.fromEntries(longPaths("o").map((path) => [path, { get: { responses: { 402: {} } } }])),
  });

export async function startHostileOrigins(): Promise<HostileOrigins> {
  const servers: RawServer[] = [];
  let reached = 0;
  const start = async (answer: Answer): Promise<number> => {
    const server = await startRawServer(answer);
    servers.push(server);
    return server.port;
  };
  const secret = await start((socket) => {
    reached += 1;
    socket.end(whole("secret"));
  });
  const away = `http://127.0.0.1:${secret}/`;
  const redirect = (status: number) =>
    `HTTP/1.1 ${status} Moved\r\nLocation: ${away}\r\nRefresh: 0; url=${away}\r\nContent-Length: 0\r\n\r\n`;
  const answers: { readonly [kind: string]: Answer } = {
    mute: () => {},
    "a head without end": endless("HTTP/1.1 200 OK\r\n", "X-More: 1\r\n", 50),
    "a body without end": endless(CHUNKED, "4\r\nmore\r\n", 50),
    "a flood": endless(CHUNKED, `ffff\r\n${"x".repeat(0xffff)}\r\n`, 1),
    "300 KB of headers": (socket) => {
      const headers = Array.from({ length: 300 }, (_, n) => `X-${n}: ${"x".repeat(1000)}\r\n`).join("");
      socket.end(`HTTP/1.1 200 OK\r\n${headers}\r\n`);
    },
    "a bomb of gzip": (socket) => {
      socket.end(whole(gzipSync(Buffer.alloc(50_000_000)), "Content-Encoding: gzip\r\n"));
    },
    "JSON without a bottom": (socket) => void socket.end(whole("[".repeat(LENGTH))),
    "JSON of objects without a bottom": (socket) => void socket.end(whole('{"a":'.repeat(LENGTH / 5))),
    "brackets of links": (socket) => void socket.end(whole("[".repeat(LENGTH))),
    "texts of links": (socket) => void socket.end(whole(lines("[a]("))),
    "headings without text": (socket) => void socket.end(whole(lines("#     \t"))),
    "rules of robots": (socket) => void socket.end(whole(lines("user-agent: *\nallow: /\n#"))),
    "rules for long addresses": (socket, request) => {
      const host = /^host: (.*)\r$/im.exec(request)?.[1] ?? "";
      if (request.startsWith("GET /robots.txt ")) socket.end(whole(LONG_RULES));
      else if (request.startsWith("GET /openapi.json ")) socket.end(whole(longDocument()));
      else if (request.startsWith("GET /.well-known/x402 "))
        socket.end(whole(longManifest(`http://${host}`)));
      else socket.end(challenge(ENTRY, 1));
    },
    "slashes in the name of an agent": (socket) => {
      socket.end(whole(Buffer.from(`user-agent: ${"/".repeat(65_000)}\u2028x`)));
    },
    "slashes in the address of a server": (socket, request) => {
      const host = /^host: (.*)\r$/im.exec(request)?.[1] ?? "";
      const url = `http://${host}${"/".repeat(260_000)}x`;
      socket.end(whole(JSON.stringify({ openapi: "3.1.0", servers: [{ url }] })));
    },
    blanks: (socket) => void socket.end(whole(" ".repeat(LENGTH))),
    "challenges of 60 KB": (socket, request) => {
      const host = /^host: (.*)\r$/im.exec(request)?.[1] ?? "";
      if (request.startsWith("GET /.well-known/x402 ")) socket.end(whole(manifest(`http://${host}`)));
      else socket.end(challenge(ENTRY, 430));
    },
    "values that are no text": (socket, request) => {
      if (request.startsWith("GET /openapi.json ")) socket.end(whole(JSON.stringify(ODD_DOCUMENT)));
      else socket.end(challenge({ ...ODD_ENTRY, amount: ODD }, 20));
    },
    "times that are no numbers": (socket, request) => {
      const host = /^host: (.*)\r$/im.exec(request)?.[1] ?? "";
      const url = `https://${host}/paid/0`;
      if (request.startsWith("GET /.well-known/x402 ")) socket.end(whole(manifest(`http://${host}`)));
      else
        socket.end(challengeOf(JSON.stringify({ x402Version: 2, resource: { url }, accepts: [ODD_ENTRY] })));
    },
    "halves of characters": (socket, request) => {
      const half = "\u{1f600}".slice(0, 1);
      const entry = { ...ENTRY, network: half, asset: half, payTo: half, amount: half };
      if (request.startsWith("GET /openapi.json ")) socket.end(whole(JSON.stringify({ openapi: half })));
      else socket.end(challenge(entry, 1));
    },
    "values without a bottom": (socket) => {
      const entry = `{"amount":${"[".repeat(8000)}${"]".repeat(8000)}}`;
      socket.end(challengeOf(`{"x402Version":2,"accepts":[${entry}]}`));
    },
    "redirects elsewhere": (socket) => void socket.end(redirect(302)),
    "lasting redirects elsewhere": (socket) => void socket.end(redirect(308)),
  };
  const origins: { [kind: string]: string } = {};
  for (const [kind, answer] of Object.entries(answers)) {
    origins[kind] = `http://127.0.0.1:${await start(answer)}`;
  }
  return {
    origins,
    secretReached: () => reached,
    [Symbol.dispose]: () => {
      for (const server of servers) server[Symbol.dispose]();
    },
  };
}
