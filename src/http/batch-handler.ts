import type { Account } from "../accounts/key-ring.ts";
import type { ChunkedBody } from "../batch/chunking.ts";
import { prefetch } from "../batch/concurrent-map.ts";
import { INTERACTIVE_WEIGHT, type Share } from "../batch/fair-queue.ts";
import type { BatchKind, BodyForm } from "../batch/messages.ts";
import type { BatchRunner, VerifyOptions } from "../batch/runner.ts";
import type { IdempotentCall } from "../billing/idempotency.ts";
import type { Meter } from "../billing/meter.ts";
import { batchBodyBytesMax } from "../billing/plans.ts";
import { DEFAULTS } from "../contract/defaults.ts";
import { ApiError } from "../contract/errors.ts";
import { SUMMARY_WORDS } from "../contract/words.ts";
import {
  type BatchRun,
  replyKept,
  replyStreamed,
  replyWhole,
  unreadReply,
  untilRead,
} from "./batch-reply.ts";
import type { BodyReader, HeldBody } from "./bodies/body-reader.ts";
import { charsetOf } from "./bodies/charset.ts";
import { isJson, mediaType } from "./bodies/request-body.ts";
import type { Call } from "./call.ts";
import { replyEncoding } from "./compression.ts";
import { isCalledOff, stopWhenGone } from "./departure.ts";
import type { Idempotent } from "./idempotent.ts";
import { weightOf } from "./negotiation.ts";
import type { Reply } from "./reply.ts";
import type { KeyedHandler } from "./routing.ts";

/** Options of a whole batch, in the query or in a JSON body. */
export type BatchSettings = { readonly deep?: boolean; readonly dns?: boolean; readonly country?: string };

/** The parts of a batch route that depend on its kind. */
export type BatchRoute = {
  readonly kind: BatchKind;
  /** Read the query, and check the options of query and body together; throw `invalid_request`. */
  readonly readQuery: (url: string) => BatchSettings;
  readonly check: (settings: BatchSettings) => void;
  readonly unitsPerItem: (settings: BatchSettings) => number;
};

export type BatchRouteDependencies = {
  readonly meter: Meter;
  readonly runner: BatchRunner;
  readonly idempotent: Idempotent;
  readonly bodies: BodyReader;
  readonly readerStallMs: number;
};

/** A reply of at most this many chunks is completed before its headers are sent, which then contain the exact units. */
const WHOLE_CHUNKS_MAX = 2;

/** Handles a POST of a batch: chunks it, reserves its units, verifies and streams it. Each chunk is charged before it is sent. */
export function batchHandler(dependencies: BatchRouteDependencies, route: BatchRoute): KeyedHandler {
  return async (call, account) => {
    const form = bodyForm(call.request);
    const charset = charsetOf(call.request);
    const query = route.readQuery(call.request.url);
    // Before the body is read, so that a refused batch takes no memory.
    using place = new DisposableStack();
    place.use(dependencies.runner.enter(account.accountId));
    using body = await dependencies.bodies.read(call.request, {
      tenant: account.accountId,
      callBytesMax: batchBodyBytesMax(account.plan),
    });
    call.suspendIdleTimeout(dependencies.readerStallMs);
    const reply = await dependencies.idempotent.run(call, account, body.digest, (entry) =>
      replyTo(dependencies, route, { call, account, form, charset, query, body, entry, place }),
    );
    return untilRead(reply, call, place, dependencies.readerStallMs);
  };
}

type BatchCall = {
  readonly call: Call;
  readonly account: Account;
  readonly form: BodyForm;
  readonly charset: string | null;
  readonly query: BatchSettings;
  readonly body: HeldBody;
  readonly entry: IdempotentCall | null;
  /** The batch's place among those under way. That of a kept reply is held until the reply is read. */
  readonly place: DisposableStack;
};

/**
 * Chunks the body, begins to verify meanwhile, reserves the units, and replies. `cleanUp` releases what lasts until the
 * reply was read: the place, the memory of the chunks, the reservation and the verifying. A streamed reply takes it over.
 */
async function replyTo(
  dependencies: BatchRouteDependencies,
  route: BatchRoute,
  batchCall: BatchCall,
): Promise<Reply> {
  const { call, account, form, charset, body, entry, place } = batchCall;
  const { runner, meter, readerStallMs } = dependencies;
  const stop = new AbortController();
  using cleanUp = new DisposableStack();
  if (entry === null) cleanUp.use(place.move());
  cleanUp.defer(() => stop.abort());
  // A kept reply is completed even if the caller leaves, for its repetition; a streamed one is cancelled.
  using gone = new DisposableStack();
  if (entry === null) gone.use(stopWhenGone(call.request, stop));
  const itemsMax = account.plan.maxBatchSize;
  const task = { kind: route.kind, form, body: body.bytes, itemsMax, charset };
  const chunked = await runner.startChunking(task, shareOf(account));
  if (!chunked.ok) {
    cleanUp.use(body.moveHold());
    throw new ApiError(chunked.code, chunked.message);
  }
  const { count, chunkCount } = chunked;
  const lines = acceptsLines(call.request);
  // A kept reply, or one in a single piece, is compressed as a whole.
  const isStreamed = entry === null && chunkCount > WHOLE_CHUNKS_MAX;
  const encoding = isStreamed ? replyEncoding(call.request) : null;
  const { results, unitsPerItem } = await verifyWhileChunking(dependencies, route, batchCall, chunked, {
    lines,
    encoding,
    signal: stop.signal,
    cleanUp,
  });
  const { distinct } = await chunked.ended;
  // The chunks hold the items until the reply is read.
  cleanUp.use(body.moveHold());
  const reservation = meter.reserve(account, distinct * unitsPerItem);
  cleanUp.defer(() => reservation.release());
  const run: BatchRun = {
    call,
    signal: stop.signal,
    statuses: SUMMARY_WORDS[route.kind],
    count,
    chunkCount,
    encoding,
    distinct,
    reservation,
    unitsPerItem,
    results,
    lines,
  };
  if (entry !== null) return await replyKept(run, entry);
  try {
    if (chunkCount <= WHOLE_CHUNKS_MAX) return await replyWhole(run);
    return await replyStreamed(run, cleanUp, readerStallMs);
  } catch (error) {
    if (!isCalledOff(stop.signal, error)) throw error;
    return unreadReply(run);
  }
}

function shareOf({ accountId }: Account): Share {
  return { tenant: accountId, weight: INTERACTIVE_WEIGHT };
}

/** Starts verification, and resolves once the whole body is chunked: until then its bytes are in use. */
async function verifyWhileChunking(
  { runner, meter }: BatchRouteDependencies,
  route: BatchRoute,
  { query, account }: BatchCall,
  chunked: ChunkedBody,
  {
    lines,
    encoding,
    signal,
    cleanUp,
  }: Pick<BatchRun, "lines" | "encoding" | "signal"> & { readonly cleanUp: DisposableStack },
): Promise<Pick<BatchRun, "results" | "unitsPerItem">> {
  try {
    const settings = { ...query, ...chunked.options };
    route.check(settings);
    const unitsPerItem = route.unitsPerItem(settings);
    const verified = runner.verify(chunked, verifyOptions(settings, lines, encoding, account), signal);
    // Before all is chunked the duplicates are not known, so this starts early only if they could be paid for too.
    const isCovered = meter.covers(account, chunked.count * unitsPerItem);
    const results = isCovered ? prefetch(verified) : verified;
    // Where nobody reads them, or no further, the rest is not held.
    cleanUp.defer(() => void results.return().catch(() => undefined));
    return { unitsPerItem, results };
  } finally {
    await chunked.ended.catch(() => undefined);
  }
}

function verifyOptions(
  { deep = DEFAULTS.deep, dns = DEFAULTS.dns, country }: BatchSettings,
  lines: boolean,
  encoding: BatchRun["encoding"],
  account: Account,
): VerifyOptions {
  return {
    deep,
    dns,
    country: country ?? null,
    separator: lines ? "\n" : ",",
    encoding,
    share: shareOf(account),
  };
}

/** Whether the caller accepts NDJSON and does not prefer JSON. */
function acceptsLines(request: Request): boolean {
  const accept = request.headers.get("accept") ?? "";
  const named = ["application/x-ndjson", "application/ndjson"].filter((type) =>
    accept.toLowerCase().includes(type),
  );
  const weight = Math.max(0, ...named.map((type) => weightOf(accept, type)));
  return weight > 0 && weight >= weightOf(accept, "application/json");
}

function bodyForm(request: Request): BodyForm {
  const type = mediaType(request);
  if (isJson(type)) return "json";
  if (type === "application/x-ndjson" || type === "application/ndjson") return "ndjson";
  if (type === "text/plain") return "text";
  const known = "application/json, application/x-ndjson or text/plain";
  throw new ApiError("unsupported_media_type", `Send the body as ${known}.`);
}
