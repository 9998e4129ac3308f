import { ApiError } from "../contract/errors.ts";
import { createArrivals } from "./arrivals.ts";
import { inOnePiece } from "./bodies/byte-stream.ts";
import type { Call, Handler, RouteContext } from "./call.ts";
import { compressed, mayBeCompressed } from "./compression.ts";
import { errorReply, type RefusalFields } from "./envelope.ts";
import { JSON_TYPE, type Reply } from "./reply.ts";
import { createReplyHeaders, type ReplyHeaders } from "./reply-headers.ts";
import { type Entrance, ServedCall, type ServedCallDependencies } from "./served-call.ts";
import { createTurnBound } from "./turn-bound.ts";
import { createUnreadBodies, unreadBytes } from "./unread-bodies.ts";

export type BoundaryDependencies = ServedCallDependencies & {
  readonly draining: () => boolean;
  /** The server is about to end: replies close their connections, so that callers open the next elsewhere; no unless given. */
  readonly leaving?: () => boolean;
  /** Writes the headers of authenticated replies. */
  readonly setRateLimitHeaders: (call: Call, refusal?: ApiError) => void;
  /** Whether a call may be answered neither with success nor with a refusal, so that its connection is closed; none unless given. */
  readonly isUnanswerable?: (error: unknown) => boolean;
  /** Milliseconds for which a call may as well wait before it begins, as its charge is not written sooner; 0 unless given. */
  readonly untilGroupMs?: () => number;
};

/** Calls that begin in one turn of the event loop, each answered within 0.1 ms where nothing keeps it. */
const CALLS_A_TURN = 32;

export type RouteOptions = Omit<Entrance, "route"> & {
  readonly open?: boolean;
  /** Calls that arrive together begin together, and are charged together. Not for those that need body or peer at once. */
  readonly gathersArrivals?: boolean;
  readonly refusalFields?: RefusalFields | undefined;
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
  const unreadBodies = createUnreadBodies(dependencies.clock);
  const turnPassed = createTurnBound(CALLS_A_TURN);
  return {
    route: (route, handler, options = {}) => {
      const entrance = { ...options, route };
      // Named one by one: the router reads this list, and gathers for a call what it does not find there.
      return async ({ request, params }) => {
        const startedMs = dependencies.clock.monotonic();
        if (options.gathersArrivals === true) await arrivals.gathered();
        else await turnPassed();
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
          response = refuse(dependencies, call, error, options.refusalFields);
        } finally {
          if (options.gathersArrivals === true) arrivals.left();
        }
        if (!call.streaming) call.finish(response.status);
        const unread = unreadBytes(request, response.status, call.isBodyLeft);
        if (unread > 0 && (await unreadBodies.pass(call, unread)))
          response.headers.set("Connection", "close");
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
  const { body } = reply;
  const isInOnePiece = reply.isWithoutLength === true && body instanceof Uint8Array;
  return new Response(isInOnePiece ? inOnePiece(body) : body, {
    status: reply.status,
    headers: replyHeaders(headers),
  });
}

/** Returns a reply that closes the connection before its first byte: a body that fails at once leaves no head either. */
function breakOff(dependencies: BoundaryDependencies, call: Call, error: unknown): Response {
  dependencies.reportBug(call, error);
  call.finish(500, "cut");
  return new Response(new ReadableStream({ pull: (body) => body.error("closed without a reply") }));
}

function refuse(
  dependencies: BoundaryDependencies,
  call: Call,
  error: unknown,
  fieldsOf?: RefusalFields,
): Response {
  const known = error instanceof ApiError ? error : dependencies.refusalOf(error);
  if (known === undefined) dependencies.reportBug(call, error);
  const refusal = known ?? new ApiError("internal_error");
  call.units = 0;
  setRateLimitHeaders(dependencies, call, refusal);
  return errorReply(refusal, call.headers, fieldsOf);
}

/** What the headers say may be out of reach with the database; the reply goes out with those that are not. */
function setRateLimitHeaders(dependencies: BoundaryDependencies, call: Call, refusal?: ApiError): void {
  try {
    dependencies.setRateLimitHeaders(call, refusal);
  } catch (error) {
    if (dependencies.refusalOf(error) === undefined) dependencies.reportBug(call, error);
  }
}
