import type { Server } from "bun";
import type { Account } from "../accounts/key-ring.ts";
import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { createArrivals } from "./arrivals.ts";
import type { BearerReader } from "./bearer.ts";
import { compressed, mayBeCompressed } from "./compression.ts";
import type { CrossOrigin } from "./cross-origin.ts";
import { errorReply } from "./envelope.ts";
import { JSON_TYPE, type Reply } from "./reply.ts";
import { createReplyHeaders, type ReplyHeaders } from "./reply-headers.ts";
import { ServedCall } from "./served-call.ts";

/** One call from its arrival to its report. Its functions are called on it, never taken from it. */
export type Call = {
  readonly id: string;
  readonly request: Request;
  /** The path's template, never the path itself: for logs, metrics and metering. */
  readonly route: string;
  readonly params: { readonly [name: string]: string };
  /** What was sent as bearer token; null where none was, and on routes that take none. */
  readonly bearer: string | null;
  /** The peer's, or what a trusted proxy names. */
  readonly clientAddress: () => string;
  /**
   * Lifts the limit on silence until the call is finished, for a reply that takes its time. From then on it is
   * `afterwardsMs`, at most 255 s, for the reader of what is left and for the idle connection; the usual one unless
   * said.
   */
  readonly suspendIdleTimeout: (afterwardsMs?: number) => void;
  /** Set by the guard. */
  account: Account | null;
  /** Units on disk for this call; for a streamed reply those reserved for it. */
  units: number;
  /** Headers gathered on the way, which a refusal carries too. */
  readonly headers: { [name: string]: string };
  /** True where the reply goes on after its headers: the one that streams then calls `finish`. */
  streaming: boolean;
  readonly finish: (status: number, outcome?: CallOutcome) => void;
  /** For what goes wrong once the headers have left: known failures and bugs alike break the connection off. */
  readonly reportError: (error: unknown) => void;
};

export type CallOutcome = "complete" | "cut";

export type CallReport = {
  readonly call: Call;
  readonly status: number;
  readonly durationMs: number;
  readonly outcome: CallOutcome;
};

export type Handler = (call: Call) => Reply | Promise<Reply>;

/** What the router hands to a route. */
export type RouteContext = {
  readonly request: Request;
  readonly params?: { readonly [name: string]: string } | undefined;
};

export type BoundaryDependencies = {
  readonly clock: Clock;
  readonly newRequestId: () => string;
  readonly trustProxy: boolean;
  /** The server that listens; null before it does. */
  readonly server: () => Server<unknown> | null;
  readonly draining: () => boolean;
  /** The server is about to end: replies close their connections, so that callers open the next elsewhere; no unless given. */
  readonly leaving?: () => boolean;
  readonly readBearer: BearerReader;
  /** Writes the headers of authenticated replies. */
  readonly setRateLimitHeaders: (call: Call) => void;
  /** Called once for each call, when its reply is decided; of a streamed one when it ends. */
  readonly report: (report: CallReport) => void;
  readonly reportBug: (call: Call, error: unknown) => void;
  /** Whether a call may be answered neither with success nor with a refusal, so that its connection is closed; none unless given. */
  readonly isUnanswerable?: (error: unknown) => boolean;
  /** Milliseconds for which a call may as well wait before it begins, as its charge is not written sooner; 0 unless given. */
  readonly untilGroupMs?: () => number;
  /** Turns the known failures of components into refusals; undefined for a bug. */
  readonly refusalOf: (error: unknown) => ApiError | undefined;
};

export type RouteOptions = {
  readonly open?: boolean;
  /** The call is given its bearer token; on other routes the header is not looked at. */
  readonly readsBearer?: boolean;
  /** Calls that arrive together begin together, and are charged together. Not for those that need body or peer at once. */
  readonly gathersArrivals?: boolean;
  /** Undefined: pages of no other origin may read the replies. */
  readonly crossOrigin?: CrossOrigin | undefined;
};

export type Boundary = {
  /** Wraps a handler: request id, headers, error envelope, report. `open` routes also answer while draining. */
  readonly route: (
    route: string,
    handler: Handler,
    options?: RouteOptions,
  ) => (context: RouteContext) => Promise<Response>;
};

/** The one place where calls begin, where what they throw becomes a reply, and where they are reported. */
export function createBoundary(dependencies: BoundaryDependencies): Boundary {
  const replyHeaders = createReplyHeaders();
  const arrivals = createArrivals(dependencies.untilGroupMs);
  return {
    route: (route, handler, options = {}) => {
      const entrance = { ...options, route };
      // Named one by one: the router reads this list, and gathers for a call what it does not find there.
      return async ({ request, params }) => {
        const startedMs = dependencies.clock.monotonic();
        if (options.gathersArrivals === true) await arrivals.gathered();
        const call = new ServedCall(dependencies, entrance, { request, params }, startedMs);
        let response: Response;
        try {
          if (dependencies.draining() && options.open !== true) throw new ApiError("shutting_down");
          const answered = await handler(call);
          const reply = mayBeCompressed(answered) ? await compressed(answered, request) : answered;
          setRateLimitHeaders(dependencies, call);
          if (dependencies.leaving?.() === true) call.headers.Connection = "close";
          response = respond(reply, call.headers, replyHeaders);
        } catch (error) {
          call.streaming = false;
          if (dependencies.isUnanswerable?.(error) === true) return breakOff(dependencies, call, error);
          response = refuse(dependencies, call, error);
        } finally {
          if (options.gathersArrivals === true) arrivals.left();
        }
        if (!call.streaming) call.finish(response.status);
        return response;
      };
    },
  };
}

function respond(reply: Reply, headers: { [name: string]: string }, replyHeaders: ReplyHeaders): Response {
  const vary = headers.Vary;
  if (reply.headers !== undefined) Object.assign(headers, reply.headers);
  if (vary !== undefined && headers.Vary !== vary) headers.Vary = `${vary}, ${headers.Vary}`;
  if (reply.status !== 204) headers["Content-Type"] ??= JSON_TYPE;
  return new Response(reply.body, { status: reply.status, headers: replyHeaders(headers) });
}

/** Returns a reply that closes the connection before its first byte: a body that fails at once leaves no head either. */
function breakOff(dependencies: BoundaryDependencies, call: Call, error: unknown): Response {
  dependencies.reportBug(call, error);
  call.finish(500, "cut");
  return new Response(new ReadableStream({ pull: (body) => body.error("closed without a reply") }));
}

function refuse(dependencies: BoundaryDependencies, call: Call, error: unknown): Response {
  const known = error instanceof ApiError ? error : dependencies.refusalOf(error);
  if (known === undefined) dependencies.reportBug(call, error);
  call.units = 0;
  setRateLimitHeaders(dependencies, call);
  return errorReply(known ?? new ApiError("internal_error"), call.headers);
}

/** What the headers say may be out of reach with the database; the reply goes out with those that are not. */
function setRateLimitHeaders(dependencies: BoundaryDependencies, call: Call): void {
  try {
    dependencies.setRateLimitHeaders(call);
  } catch (error) {
    if (dependencies.refusalOf(error) === undefined) dependencies.reportBug(call, error);
  }
}
