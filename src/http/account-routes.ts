import type { Static, TObject } from "@sinclair/typebox";
import type { Account } from "../accounts/key-ring.ts";
import type { Meter } from "../billing/meter.ts";
import { ApiError } from "../contract/errors.ts";
import { bodyReader, queryReader } from "../contract/schema.ts";
import type { Operation } from "../contract/specification/operation.ts";
import type { Answer } from "../platform/answer.ts";
import type { FairTurns } from "../platform/fair-turns.ts";
import type { ReplyOf } from "../store/account-port.ts";
import type { Guard } from "./auth.ts";
import type { BodyReader } from "./bodies/body-reader.ts";
import { parseJson, requireJson } from "./bodies/request-body.ts";
import type { Call } from "./call.ts";
import type { Idempotent } from "./idempotent.ts";
import { json, type Reply } from "./reply.ts";
import { type Route, type Routing, requireReadableIds } from "./routing.ts";

export type AccountRoutingDependencies = {
  readonly routing: Routing;
  readonly guard: Guard;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly bodies: BodyReader;
  readonly turns: FairTurns;
};

/** A change to an account, and the view of its outcome. */
export type AccountChange<Fields, Outcome, View> = {
  readonly status: number;
  /** Makes the change, and keeps the reply of `replyOf` in the same transaction. */
  readonly make: (account: Account, fields: Fields, replyOf: ReplyOf<Outcome>, call: Call) => Answer<Outcome>;
  readonly viewOf: (outcome: Outcome) => View;
  /** Whether the reply contains a key: see Idempotent. */
  readonly secret: boolean;
};

/** Registers keyed routes that cost no units: their calls are counted, and their changes are idempotent. */
export type AccountRouting = {
  /** Registers a GET that answers the view as JSON. */
  readonly read: <Query extends TObject, View>(
    operation: Operation<Query>,
    view: (account: Account, query: Static<Query>, call: Call) => Answer<View>,
  ) => Route;
  /** Registers an idempotent change without a body, answered with 204. */
  readonly remove: (operation: Operation, make: (account: Account, call: Call) => Answer<void>) => Route;
  /** Registers a change with a JSON body, made once per Idempotency-Key. */
  readonly change: <Body extends TObject, Outcome, View>(
    operation: Operation<TObject, Body>,
    change: AccountChange<Static<Body>, Outcome, View>,
  ) => Route;
};

export function createAccountRouting(dependencies: AccountRoutingDependencies): AccountRouting {
  const { routing, guard, meter, idempotent, bodies, turns } = dependencies;

  /** Replays the kept reply to an expired key; every other call with it is `bad_key`, unless a later try may be replayed. */
  async function replay(call: Call, account: Account): Promise<Reply> {
    let reply: Reply;
    try {
      using body = await bodies.read(call.request, { tenant: account.accountId });
      reply = await idempotent.replay(call, account, body.digest);
    } catch (error) {
      const isFinal = error instanceof ApiError && error.retryAfterSeconds === undefined;
      throw isFinal ? new ApiError("bad_key") : error;
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
        // The call may repeat a rotation that expired its key and whose reply was lost.
        const replayAccount = secret ? await guard.accountForReplay(call) : null;
        if (replayAccount !== null) return replay(call, replayAccount);
        const account = await guard.admit(call, scopes);
        requireReadableIds(call);
        using body = await bodies.read(call.request, { tenant: account.accountId });
        requireJson(call.request, body.bytes);
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
