import { startBodyFlow } from "./body-flow.ts";
import { type ByteReader, createByteReader } from "./byte-reader.ts";
import type { Connection } from "./connection.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import { OutgoingError } from "./failure.ts";
import { OUTGOING_LIMITS, OUTGOING_PORTS, type OutgoingLimits } from "./limits.ts";
import type { OpenReply, OutgoingFailure, OutgoingReply, Timings } from "./reply.ts";
import {
  afterRedirect,
  type OutgoingRequest,
  type RequestDefaults,
  readRequest,
  type WrittenRequest,
  writeRequest,
} from "./request.ts";
import { decode, framingOf, limited, readFramed } from "./response-body.ts";
import { type ResponseHead, readHead } from "./response-head.ts";
import { readTarget, type Target, type TargetRules } from "./target.ts";
import { createTargetConnector, type OutgoingDependencies } from "./target-connection.ts";

/** The rules of all requests of a client. The defaults are the strictest: public addresses, no redirects. */
export type OutgoingRules = Partial<TargetRules> &
  RequestDefaults & {
    /** How many redirects are followed; with 0 a redirect is a reply like any other. */
    readonly redirectsMax?: number;
    /** Lets a redirect lead to another host, which is checked like the first. */
    readonly allowOtherHosts?: boolean;
    readonly limits?: Partial<OutgoingLimits>;
  };

export type HttpClient = {
  /** Sends a request and resolves with the head of the reply; the body is read on demand. */
  readonly open: (url: string, request?: OutgoingRequest) => Promise<OpenReply | OutgoingFailure>;
  /** Sends a request and returns the whole reply. */
  readonly send: (url: string, request?: OutgoingRequest) => Promise<OutgoingReply | OutgoingFailure>;
};

/** A connection whose reply head has been received. */
type Hop = {
  readonly target: Target;
  readonly connection: Connection;
  readonly reader: ByteReader;
  readonly head: ResponseHead;
  readonly timings: Timings;
};

const STRICTEST: TargetRules = {
  allowPrivate: false,
  ports: OUTGOING_PORTS,
  allowLiterals: false,
  httpsOnly: false,
};
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Creates the HTTP client for all outgoing requests. Each host is resolved once, every address is checked, and the
 * connection goes to a checked one, so that DNS rebinding cannot redirect it. Failures are values. Each request has a
 * connection of its own.
 *
 * @example
 * const client = createHttpClient({ lookUp: createAddressLookup(resolver), clock: systemClock }, { redirectsMax: 2 });
 * const reply = await client.send("https://example.com/robots.txt");
 * if (reply.ok) console.log(reply.status, reply.body.length);
 */
export function createHttpClient(dependencies: OutgoingDependencies, rules: OutgoingRules): HttpClient {
  const { clock } = dependencies;
  const limits = { ...OUTGOING_LIMITS, ...rules.limits };
  const targetRules = { ...STRICTEST, ...rules };
  const connectTo = createTargetConnector(dependencies, limits, targetRules);
  const { redirectsMax = 0, allowOtherHosts = false } = rules;

  async function open(url: string, request: OutgoingRequest = {}): Promise<OpenReply | OutgoingFailure> {
    const startedMs = clock.monotonic();
    const deadline = createDeadline(limits.totalTimeoutMs, clock, request.signal);
    try {
      return await follow(url, request, deadline);
    } catch (error) {
      deadline.end();
      return failureOf(error, null, clock.monotonic() - startedMs);
    }
  }

  async function send(url: string, request: OutgoingRequest = {}): Promise<OutgoingReply | OutgoingFailure> {
    const startedMs = clock.monotonic();
    const opened = await open(url, request);
    if (!opened.ok) return opened;
    const { body, flow: _, cancel, ...head } = opened;
    const parts: Uint8Array[] = [];
    let isTruncated = false;
    try {
      for await (const part of body) parts.push(part);
    } catch (error) {
      isTruncated = request.truncateBody === true && reasonOf(error) === "body_too_large";
      if (!isTruncated) return failureOf(error, opened, clock.monotonic() - startedMs);
    }
    return { ...head, body: Buffer.concat(parts), isTruncated, totalMs: clock.monotonic() - startedMs };
  }

  async function follow(first: string, asked: OutgoingRequest, deadline: Deadline): Promise<OpenReply> {
    const redirects: string[] = [];
    let request = readRequest(asked, rules);
    let target = readTarget(first, targetRules);
    for (;;) {
      const hop = await exchange(target, request, deadline);
      if (redirectsMax === 0 || !REDIRECTS.includes(hop.head.status)) {
        return replyOf(hop, request.method, redirects, asked.bodyBytesMax ?? null, deadline);
      }
      hop.connection.socket.destroy();
      const next = nextTarget(hop);
      if (redirects.length === redirectsMax) {
        throw new OutgoingError("too_many_redirects", `more than ${redirectsMax} redirects`);
      }
      redirects.push(next.url.href);
      request = afterRedirect(request, hop.head.status, next.url.origin === target.url.origin);
      target = next;
    }
  }

  /** Sends one request to one target and reads the head of the reply. */
  async function exchange(target: Target, request: WrittenRequest, deadline: Deadline): Promise<Hop> {
    const { connection, lookupMs } = await connectTo(target, deadline);
    const { socket, connectMs, tlsMs } = connection;
    const sentMs = clock.monotonic();
    const reader = createByteReader(socket);
    socket.write(writeRequest(request, target));
    const { headTimeoutMs, headBytesMax } = limits;
    const silence = `no answer within ${headTimeoutMs} ms`;
    const head = await deadline.within(
      readHead(reader, headBytesMax),
      headTimeoutMs,
      "head_timeout",
      silence,
    );
    const timings = { lookupMs, connectMs, tlsMs, headMs: clock.monotonic() - sentMs };
    return { target, connection, reader, head, timings };
  }

  function replyOf(
    { target, connection, reader, head, timings }: Hop,
    method: string,
    redirects: readonly string[],
    bytesMax: number | null,
    deadline: Deadline,
  ): OpenReply {
    const { idleTimeoutMs, bodyBytesMax, decodedBytesMax } = limits;
    const silence = `nothing more came within ${idleTimeoutMs} ms`;
    const inTime = deadline.paced(idleTimeoutMs, "body_timeout", silence);
    const timed: Pick<ByteReader, "readPart"> = {
      readPart: (partBytesMax) => inTime(reader.readPart(partBytesMax)),
    };
    const framing = framingOf(method, head);
    const framed = readFramed(timed, framing);
    const sentMax = bytesMax ?? bodyBytesMax;
    const inflatedMax = bytesMax ?? decodedBytesMax;
    const { end } = deadline;
    const body =
      rules.acceptGzip === true
        ? limited(decode(limited(framed, sentMax), head.headers), inflatedMax, " inflated", end)
        : limited(framed, sentMax, "", end);
    const flowOptions = { reader, framing, bytesMax: sentMax, idleTimeoutMs, deadline };
    return {
      ok: true,
      ...head,
      url: target.url.href,
      redirects,
      peer: connection.peer,
      timings,
      body,
      flow: (sink) => startBodyFlow(flowOptions, sink),
      cancel: end,
    };
  }

  function nextTarget({ target, head }: Hop): Target {
    const location = URL.parse(head.headers.get("location") ?? "", target.url.href);
    if (location === null || !/^https?:$/.test(location.protocol) || !head.headers.has("location")) {
      throw new OutgoingError("bad_redirect", "redirected to nowhere");
    }
    if (target.isSecure && location.protocol !== "https:") {
      throw new OutgoingError("insecure_redirect", `redirected from https to ${location.origin}`);
    }
    const next = readTarget(location.href, targetRules);
    if (allowOtherHosts || next.host === target.host) return next;
    throw new OutgoingError("other_host", `redirected to ${next.url.origin}`);
  }

  return { open, send };
}

function failureOf(error: unknown, opened: OpenReply | null, totalMs: number): OutgoingFailure {
  if (!(error instanceof OutgoingError)) throw error;
  const { reason, message, cause } = error;
  const peer = error.peer ?? opened?.peer ?? null;
  const { status = null, headers = null } = opened ?? {};
  return { ok: false, reason, message, cause, peer, status, headers, totalMs };
}

function reasonOf(error: unknown): string | null {
  return error instanceof OutgoingError ? error.reason : null;
}
