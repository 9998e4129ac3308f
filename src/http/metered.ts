import type { Static, TObject } from "@sinclair/typebox";
import type { Account } from "../accounts/key-ring.ts";
import type { IdempotentCall } from "../billing/idempotency.ts";
import type { Meter } from "../billing/meter.ts";
import { bodyReader, queryReader } from "../contract/schema.ts";
import type { Operation } from "../contract/specification/operation.ts";
import type { BatchRouteDependencies } from "./batch-handler.ts";
import type { BodyReader } from "./bodies/body-reader.ts";
import { parseJson, requireJson } from "./bodies/request-body.ts";
import type { Call } from "./call.ts";
import type { Idempotent } from "./idempotent.ts";
import { jsonText, type Reply } from "./reply.ts";
import type { Route, Routing } from "./routing.ts";

/** One check that is paid for: how its input is read, what it costs, what it does. */
export type MeteredCheck<Query extends TObject, Body extends TObject, Input, Result> = {
  readonly get: Operation<Query>;
  readonly post: Operation<TObject, Body>;
  /** Read the input; throw `invalid_request`. */
  readonly fromQuery: (fields: Static<Query>) => Input;
  readonly fromBody: (fields: Static<Body>) => Input;
  readonly units: (input: Input) => number;
  readonly work: (input: Input, account: Account) => Result | Promise<Result>;
  /** The result where `work` throws a bug: it costs nothing. */
  readonly failed: (input: Input) => Result;
  /** False where our own part failed: such a result costs nothing. */
  readonly isCharged: (result: Result) => boolean;
  /** The reply's body. */
  readonly write: (result: Result) => string;
};

/** Registers the GET and the POST of a metered check. */
export type Metered = <Query extends TObject, Body extends TObject, Input, Result>(
  check: MeteredCheck<Query, Body, Input, Result>,
) => readonly Route[];

/** What the routes of checks are made of, one at a time and in batches. */
export type CheckRouteDependencies = {
  readonly routing: Routing;
  readonly metered: Metered;
  readonly batch: BatchRouteDependencies;
};

export type MeteredDependencies = {
  readonly routing: Routing;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly bodies: BodyReader;
};

/** The length of a verdict is not known before it is made; without this header the server would announce a length of 0. */
const WITHOUT_LENGTH = { "Transfer-Encoding": "chunked" };

/** Reserves the units, does the work, records the charge. No metered check runs outside of it. */
export function createMetered({ routing, meter, idempotent, bodies }: MeteredDependencies): Metered {
  return (check) => {
    type Input = ReturnType<typeof check.fromQuery>;
    const readQuery = queryReader(check.get);
    const readBody = bodyReader(check.post);
    const endpoint = check.get.path;

    async function answer(
      call: Call,
      account: Account,
      input: Input,
      entry: IdempotentCall | null,
    ): Promise<Reply> {
      const units = check.units(input);
      const reservation = meter.reserve(account, units);
      try {
        const found = attempt(call, check, input, account);
        // A look-up may take longer than connections may be silent.
        if (found instanceof Promise) call.suspendIdleTimeout();
        const result = found instanceof Promise ? await found : found;
        const text = check.write(result);
        const charge = { endpoint, units: check.isCharged(result) ? units : 0 };
        await reservation.record(charge, entry?.keep({ status: 200, headers: {}, body: text }));
        call.units = reservation.chargedUnits();
        return jsonText(text);
      } finally {
        reservation.release();
      }
    }

    return [
      routing.keyed(check.get, (call, account) => {
        const input = check.fromQuery(readQuery(call.request.url));
        if (call.request.method !== "HEAD") return answer(call, account, input, null);
        // A caller who is shown no verdict pays for none, so none is made; what would be refused is refused.
        meter.reserve(account, check.units(input)).release();
        meter.countCall(account, endpoint);
        return { status: 200, body: null, headers: WITHOUT_LENGTH };
      }),
      routing.keyed(check.post, async (call, account) => {
        using body = await bodies.read(call.request, { tenant: account.accountId });
        requireJson(call.request, body.bytes);
        return await idempotent.run(call, account, body.digest, (entry) =>
          answer(call, account, check.fromBody(readBody(parseJson(body.bytes))), entry),
        );
      }),
    ];
  };
}

/** A check that breaks is a bug, logged as one, and answered as a check that failed. */
function attempt<Input, Result>(
  call: Call,
  { work, failed }: Pick<MeteredCheck<TObject, TObject, Input, Result>, "work" | "failed">,
  input: Input,
  account: Account,
): Result | Promise<Result> {
  const fail = (error: unknown) => {
    call.reportError(error);
    return failed(input);
  };
  try {
    const result = work(input, account);
    return result instanceof Promise ? result.catch(fail) : result;
  } catch (error) {
    return fail(error);
  }
}
