import type { Static, TObject } from "@sinclair/typebox";
import type { Account } from "../accounts/key-ring.ts";
import type { Meter } from "../billing/meter.ts";
import { ApiError } from "../contract/errors.ts";
import { bodyReader, queryReader } from "../contract/schema.ts";
import type { Operation } from "../contract/specification/operation.ts";
import type { Answer } from "../platform/answer.ts";
import type { ReplyOf } from "../store/account-port.ts";
import type { Guard } from "./auth.ts";
import type { BodyReader } from "./bodies/body-reader.ts";
import { parseJson, requireJson } from "./bodies/request-body.ts";
import type { Call } from "./call.ts";
import type { FairTurns } from "./fair-turns.ts";
import type { Idempotent } from "./idempotent.ts";
import { json, type Reply } from "./reply.ts";
import type { Route, Routing } from "./routing.ts";

export type AccountRoutingDependencies = {
  readonly routing: Routing;
  readonly guard: Guard;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly bodies: BodyReader;
  readonly turns: FairTurns;
};

/** What a change of an account's things does, and what of its outcome the caller is shown. */
export type AccountChange<Fields, Outcome, View> = {
  readonly status: number;
  /** Makes the change, and keeps what `replyOf` returns in the same transaction. */
  readonly make: (account: Account, fields: Fields, replyOf: ReplyOf<Outcome>, call: Call) => Answer<Outcome>;
  readonly viewOf: (outcome: Outcome) => View;
  /** The reply shows a key: see Idempotent. */
  readonly secret: boolean;
};

/** Registers calls with a key that cost no units: they are counted, and changes may be repeated safely. */
export type AccountRouting = {
  /** Answers the view as JSON. */
  readonly read: <Query extends TObject, View>(
    operation: Operation<Query>,
    view: (account: Account, query: Static<Query>, call: Call) => Answer<View>,
  ) => Route;
  /** Makes a change without a body, which may be repeated, and answers 204. */
  readonly remove: (operation: Operation, make: (account: Account, call: Call) => Answer<void>) => Route;
  /** Makes a change from a JSON body, once per Idempotency-Key. */
  readonly change: <Body extends TObject, Outcome, View>(
    operation: Operation<TObject, Body>,
    change: AccountChange<Static<Body>, Outcome, View>,
  ) => Route;
};

export function createAccountRouting(dependencies: AccountRoutingDependencies): AccountRouting {
  const { routing, guard, meter, idempotent, bodies, turns } = dependencies;

  /** Answers the kept reply to a key that has ended; whatever else is asked with it is refused for the key. */
  async function replay(call: Call, account: Account): Promise<Reply> {
    let reply: Reply;
    try {
      using body = await bodies.read(call.request, { tenant: account.accountId });
      reply = await idempotent.replay(call, account, body.digest);
    } catch (error) {
      throw error instanceof ApiError ? new ApiError("bad_key") : error;
    }
    guard.applyRateLimit(call, account);
    return reply;
  }

  return {
    read(operation, view) {
      const query = queryReader(operation);
      return routing.keyed(operation, async (call, account) => {
        const reply = json(await view(account, query(call.request.url), call));
        meter.countCall(account, operation.path);
        return reply;
      });
    },

    remove: (operation, make) =>
      routing.keyed(operation, async (call, account) => {
        await turns.turnOf(account.accountId);
        await make(account, call);
        meter.countCall(account, operation.path);
        return { status: 204, body: null };
      }),

    change(operation, { status, make, viewOf, secret }) {
      const { scopes = ["account"] } = operation;
      const readBody = bodyReader(operation);
      return routing.guarded(operation, async (call) => {
        // A change that shows a new key may have ended the key of the call, whose reply was lost on its way.
        const replayAccount = secret ? await guard.accountForReplay(call) : null;
        if (replayAccount !== null) return replay(call, replayAccount);
        const account = await guard.admit(call, scopes);
        requireJson(call.request);
        using body = await bodies.read(call.request, { tenant: account.accountId });
        return await idempotent.run(call, account, body.digest, async (entry) => {
          await turns.turnOf(account.accountId);
          const outcome = await make(
            account,
            readBody(parseJson(body.bytes)),
            (made) => entry?.keep({ status, headers: {}, body: JSON.stringify(viewOf(made)) }) ?? null,
            call,
          );
          meter.countCall(account, operation.path);
          return json(viewOf(outcome), status);
        });
      });
    },
  };
}
