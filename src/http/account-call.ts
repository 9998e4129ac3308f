import type { Account } from "../accounts/key-ring.ts";
import type { Meter } from "../billing/meter.ts";
import { ApiError } from "../contract/errors.ts";
import type { Guard } from "./auth.ts";
import type { Boundary, Call } from "./boundary.ts";
import type { Idempotent } from "./idempotent.ts";
import { json, type Reply } from "./reply.ts";
import { parseJson, readBytes, requireJson } from "./request-body.ts";

export type AccountCallParts = {
  readonly boundary: Boundary;
  readonly guard: Guard;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly bodyBytesMax: number;
};

/** A change of the account: what it does, and what of its outcome the caller is shown. */
export type AccountChange<Outcome, Body> = {
  readonly status: number;
  /** Makes the change; calls `alongside` with the outcome in the transaction that makes it. */
  readonly make: (account: Account, body: unknown, alongside: (outcome: Outcome) => void) => Outcome;
  readonly bodyOf: (outcome: Outcome) => Body;
  /** The body shows a key: see Idempotent. */
  readonly secret: boolean;
};

/** The two forms of calls about the account itself: they are counted and cost no units. */
export function accountCalls({ boundary, guard, meter, idempotent, bodyBytesMax }: AccountCallParts) {
  /** Shows what was kept, to a key that has ended: whatever else it asks for is refused for the key. */
  async function repeat(call: Call, account: Account): Promise<Reply> {
    let reply: Reply;
    try {
      reply = idempotent.replay(call, account, await readBytes(call.request, bodyBytesMax));
    } catch (error) {
      throw error instanceof ApiError ? new ApiError("bad_key") : error;
    }
    guard.welcome(call, account);
    return reply;
  }

  return {
    read: <View>(route: string, view: (account: Account, call: Call) => View) =>
      boundary.route<View>(route, (call) => {
        const account = guard.admit(call);
        const reply = json(view(account, call));
        meter.countCall(account, route);
        return reply;
      }),

    write: <Outcome, Body>(route: string, change: AccountChange<Outcome, Body>) => {
      const { status, make, bodyOf, secret } = change;
      return boundary.route<Body>(route, async (call) => {
        // A change that shows a new key may have ended the key of the call, whose reply was lost on its way.
        const repeater = secret ? guard.findRepeater(call) : null;
        if (repeater !== null) return repeat(call, repeater);
        const account = guard.admit(call);
        requireJson(call.request);
        const bytes = await readBytes(call.request, bodyBytesMax);
        return idempotent.run(
          call,
          account,
          { bytes },
          async (entry) => {
            const outcome = make(account, parseJson(bytes), (made) => {
              entry?.keep({ status, headers: {}, body: JSON.stringify(bodyOf(made)) })();
            });
            meter.countCall(account, route);
            return json(bodyOf(outcome), status);
          },
          { secret },
        );
      });
    },
  };
}
