import type { Account } from "../accounts/key-ring.ts";
import type { BoundaryDependencies, Call, CallOutcome, RouteContext, RouteOptions } from "./boundary.ts";

/** Seconds of silence after which a connection is closed. */
export const IDLE_TIMEOUT_SECONDS = 10;
/** More than this the server cannot count. */
const SILENCE_SECONDS_MAX = 255;

/** The route that a call came by. */
type Entrance = Pick<RouteOptions, "readsBearer" | "crossOrigin"> & { readonly route: string };

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
  streaming = false;
  readonly #dependencies: BoundaryDependencies;
  readonly #startedMs: number;
  #silenceSeconds = 0;

  /** `startedMs` is on the monotonic clock. */
  constructor(
    dependencies: BoundaryDependencies,
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

  suspendIdleTimeout(afterwardsMs = IDLE_TIMEOUT_SECONDS * 1000): void {
    this.#silenceSeconds = Math.min(SILENCE_SECONDS_MAX, Math.ceil(afterwardsMs / 1000));
    this.#dependencies.server()?.timeout(this.request, 0);
  }

  finish(status: number, outcome: CallOutcome = "complete"): void {
    const { clock, report, server } = this.#dependencies;
    // Otherwise it would stay lifted for as long as the connection lives.
    if (this.#silenceSeconds > 0) server()?.timeout(this.request, this.#silenceSeconds);
    report({ call: this, status, durationMs: clock.monotonic() - this.#startedMs, outcome });
  }

  reportError(error: unknown): void {
    this.#dependencies.reportBug(this, error);
  }
}
