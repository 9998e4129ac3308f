import type { Account } from "../accounts/key-ring.ts";
import type { IdempotentCall } from "../billing/idempotency.ts";
import type { Meter } from "../billing/meter.ts";
import type { Guard } from "./auth.ts";
import type { Call, Handler } from "./boundary.ts";
import type { Idempotent } from "./idempotent.ts";
import { jsonText, type Reply } from "./reply.ts";
import { parseJson, readBytes, requireJson } from "./request-body.ts";

/** One check that is paid for: what it is asked, what it costs, what it does. */
export type ChargedCheck<Asked, Result> = {
  readonly route: string;
  /** Read what is asked; throw `invalid_request`. */
  readonly fromQuery: (url: string) => Asked;
  readonly fromBody: (body: unknown) => Asked;
  readonly units: (asked: Asked) => number;
  readonly work: (asked: Asked) => Result | Promise<Result>;
  /** What is answered where `work` breaks: it costs nothing. */
  readonly failed: (asked: Asked) => Result;
  /** False where our own part failed: such a result costs nothing. */
  readonly isCharged: (result: Result) => boolean;
  /** The reply's body. */
  readonly write: (result: Result) => string;
};

export type Charged = <Asked, Result>(
  check: ChargedCheck<Asked, Result>,
) => { readonly get: Handler; readonly post: Handler };

export type ChargedParts = {
  readonly guard: Guard;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly bodyBytesMax: number;
};

/** Reserve, work, record: the bracket that no paid check can be done outside of. */
export function createCharged({ guard, meter, idempotent, bodyBytesMax }: ChargedParts): Charged {
  return <Asked, Result>(check: ChargedCheck<Asked, Result>) => {
    async function answer(
      call: Call,
      account: Account,
      asked: Asked,
      entry: IdempotentCall | null,
    ): Promise<Reply> {
      const units = check.units(asked);
      const reservation = meter.reserve(account, units);
      try {
        const found = attempt(call, check, asked);
        // A look-up may take longer than connections may be silent.
        if (found instanceof Promise) call.allowSilence();
        const result = found instanceof Promise ? await found : found;
        const text = check.write(result);
        const charge = { endpoint: check.route, units: check.isCharged(result) ? units : 0 };
        await reservation.record(charge, entry?.keep({ status: 200, headers: {}, body: text }));
        call.units = charge.units;
        return jsonText(text);
      } finally {
        reservation.release();
      }
    }

    return {
      get(call) {
        const account = guard.admit(call);
        const asked = check.fromQuery(call.request.url);
        if (call.request.method !== "HEAD") return answer(call, account, asked, null);
        // Whoever is shown no verdict pays for none, so none is made; what would be refused is refused.
        meter.reserve(account, check.units(asked)).release();
        meter.countCall(account, check.route);
        return { status: 200, body: null };
      },
      async post(call) {
        const account = guard.admit(call);
        requireJson(call.request);
        const body = await readBytes(call.request, bodyBytesMax);
        return idempotent.run(call, account, { bytes: body }, (entry) =>
          answer(call, account, check.fromBody(parseJson(body)), entry),
        );
      },
    };
  };
}

/** A check that breaks is a bug, logged as one, and answered as a check that failed. */
function attempt<Asked, Result>(
  call: Call,
  { work, failed }: ChargedCheck<Asked, Result>,
  asked: Asked,
): Result | Promise<Result> {
  const fail = (error: unknown) => {
    call.broken(error);
    return failed(asked);
  };
  try {
    const result = work(asked);
    return result instanceof Promise ? result.catch(fail) : result;
  } catch (error) {
    return fail(error);
  }
}
