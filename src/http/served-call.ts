import type { Server } from "bun";
import type { Account } from "../accounts/key-ring.ts";
import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { BearerReader } from "./bearer.ts";
import type { Call, CallOutcome, CallReport, RouteContext } from "./call.ts";
import type { CrossOrigin } from "./cross-origin.ts";

/** Seconds of silence after which a connection is closed. */
export const IDLE_TIMEOUT_SECONDS = 10;
/** The longest idle timeout that the server takes. */
const SILENCE_SECONDS_MAX = 255;
/** The runtime looks for silent connections this often, and closes one up to that long before its time. */
const SILENCE_STEP_SECONDS = 4;

export type ServedCallDependencies = {
  readonly clock: Clock;
  readonly newRequestId: () => string;
  readonly trustProxy: boolean;
  /** The server that listens; null before it does. */
  readonly server: () => Server<unknown> | null;
  readonly readBearer: BearerReader;
  /** Called once for each call, when its reply is decided; of a streamed one when it ends. */
  readonly report: (report: CallReport) => void;
  readonly reportBug: (call: Call, error: unknown) => void;
  /** Turns the known failures of components into refusals; undefined for a bug. */
  readonly refusalOf: (error: unknown) => ApiError | undefined;
};

/** The route that a call came by. */
export type Entrance = {
  readonly route: string;
  /** The call is given its bearer token; on other routes the header is not read. */
  readonly readsBearer?: boolean;
  /** Undefined: pages of no other origin may read the replies. */
  readonly crossOrigin?: CrossOrigin | undefined;
};

/**
 * A call that the server answers. A class, as functions that are made for each call take a hundredth of a single check:
 * they are called on it, never taken from it.
 */
export class ServedCall implements Call {
  readonly id: string;
  readonly request: Request;
  readonly route: string;
  readonly params: Call["params"];
  readonly bearer: string | null;
  readonly headers: { [name: string]: string };
  account: Account | null = null;
  units = 0;
  isBodyLeft = false;
  streaming = false;
  readonly #dependencies: ServedCallDependencies;
  readonly #startedMs: number;
  #silenceSeconds = 0;

  /** `startedMs` is on the monotonic clock. */
  constructor(
    dependencies: ServedCallDependencies,
    { route, readsBearer = false, crossOrigin }: Entrance,
    { request, params = {} }: RouteContext,
    startedMs: number,
  ) {
    this.#dependencies = dependencies;
    this.#startedMs = startedMs;
    this.id = dependencies.newRequestId();
    this.request = request;
    this.route = route;
    this.params = params;
    this.bearer = readsBearer ? dependencies.readBearer(request.headers.get("authorization")) : null;
    this.headers = { "X-Request-Id": this.id };
    if (crossOrigin !== undefined) Object.assign(this.headers, crossOrigin(request));
  }

  /** Behind a trusted proxy the last address it added; else the peer's. */
  clientAddress(): string {
    const { server, trustProxy } = this.#dependencies;
    const forwarded = trustProxy ? this.request.headers.get("x-forwarded-for") : null;
    const last = forwarded?.split(",").at(-1)?.trim();
    return last || (server()?.requestIP(this.request)?.address ?? "unknown");
  }

  suspendIdleTimeout(afterwardsMs?: number): void {
    this.#silenceSeconds =
      afterwardsMs === undefined
        ? IDLE_TIMEOUT_SECONDS
        : Math.min(SILENCE_SECONDS_MAX, Math.ceil(afterwardsMs / 1000) + SILENCE_STEP_SECONDS);
    this.#dependencies.server()?.timeout(this.request, 0);
  }

  finish(status: number, outcome: CallOutcome = "complete"): void {
    const { clock, report, server } = this.#dependencies;
    // Otherwise it would stay lifted until the connection closes.
    if (this.#silenceSeconds > 0) server()?.timeout(this.request, this.#silenceSeconds);
    report({ call: this, status, durationMs: clock.monotonic() - this.#startedMs, outcome });
  }

  reportError(error: unknown): void {
    const { refusalOf, reportBug } = this.#dependencies;
    if (!(error instanceof ApiError) && refusalOf(error) === undefined) reportBug(this, error);
  }
}
