import type { Account } from "../accounts/key-ring.ts";
import type { Reply } from "./reply.ts";

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

/** What the router passes to a route. */
export type RouteContext = {
  readonly request: Request;
  readonly params?: { readonly [name: string]: string } | undefined;
};
