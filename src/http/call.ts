import type { Account } from "../accounts/key-ring.ts";
import type { Reply } from "./reply.ts";

/** One call from its arrival to its report. Its functions are methods: they must not be detached from it. */
export type Call = {
  readonly id: string;
  readonly request: Request;
  /** The template of the path, for logs, metrics and metering. */
  readonly route: string;
  readonly params: { readonly [name: string]: string };
  /** The bearer token; null without one, and on routes that take none. */
  readonly bearer: string | null;
  /** Returns the address of the peer, or the one that a trusted proxy names. */
  readonly clientAddress: () => string;
  /**
   * Suspends the idle timeout of the connection until the call is finished. From then on it is `afterwardsMs` or
   * a few seconds more, at most 255 s; the default one unless given.
   */
  readonly suspendIdleTimeout: (afterwardsMs?: number) => void;
  /** Set by the guard. */
  account: Account | null;
  /** Units charged for this call; for a streamed reply those reserved for it. */
  units: number;
  /** Headers of the reply, whether it succeeds or is refused. */
  readonly headers: { [name: string]: string };
  /** True from the first part of a body that is read part by part until its end was reached. */
  isBodyLeft: boolean;
  /** True for a streamed reply, whose stream calls `finish` at its end. */
  streaming: boolean;
  readonly finish: (status: number, outcome?: CallOutcome) => void;
  /**
   * Reports an error after the headers were sent, when it can only break off the connection: as a bug, unless it would
   * have been a refusal before.
   */
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

/** What the router passes to a route. */
export type RouteContext = {
  readonly request: Request;
  readonly params?: { readonly [name: string]: string } | undefined;
};
