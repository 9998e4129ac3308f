import type { Account } from "../accounts/key-ring.ts";
import type { Cut } from "../batch/chunking.ts";
import { begun } from "../batch/concurrent-map.ts";
import type { BatchKind, BodyForm } from "../batch/messages.ts";
import type { BatchRunner, JudgeOptions } from "../batch/runner.ts";
import type { IdempotentCall } from "../billing/idempotency.ts";
import type { Meter } from "../billing/meter.ts";
import { ApiError } from "../contract/errors.ts";
import { answerKept, answerStreamed, answerWhole, type BatchRun } from "./batch-reply.ts";
import type { Call } from "./boundary.ts";
import type { Idempotent } from "./idempotent.ts";
import { weightOf } from "./negotiation.ts";
import type { Reply } from "./reply.ts";
import { type BodyReader, type HeldBody, isJson, mediaType } from "./request-body.ts";
import type { KeyedHandler } from "./routing.ts";

/** What callers may say about a whole batch, in the query or in a JSON body. */
export type BatchSettings = { readonly deep?: boolean; readonly dns?: boolean; readonly country?: string };

/** What one kind of batch adds to the way that all share. */
export type BatchRoute = {
  readonly kind: BatchKind;
  /** The words of the summary, each a count of results. */
  readonly statuses: readonly string[];
  /** Reads the query, and checks what query and body say together; throw `invalid_request`. */
  readonly readQuery: (url: string) => BatchSettings;
  readonly check: (settings: BatchSettings) => void;
  readonly unitsPerItem: (settings: BatchSettings) => number;
};

export type BatchRouteParts = {
  readonly meter: Meter;
  readonly runner: BatchRunner;
  readonly idempotent: Idempotent;
  readonly bodies: BodyReader;
  readonly readerStallMs: number;
};

/** Replies of up to so many chunks are made whole before their headers leave, which then tell the exact units. */
const WHOLE_CHUNKS_MAX = 2;

/** A POST of a batch: cut and judged at once, reserved, and streamed; each chunk is charged before its bytes leave. */
export function batchHandler(parts: BatchRouteParts, route: BatchRoute): KeyedHandler {
  return async (call, account) => {
    const form = bodyForm(call.request);
    const query = route.readQuery(call.request.url);
    using body = await parts.bodies.read(call.request);
    call.suspendIdleTimeout(parts.readerStallMs);
    return await parts.idempotent.run(call, account, body, (entry) =>
      answer(parts, route, { call, account, form, query, body, entry }),
    );
  };
}

type Sent = {
  readonly call: Call;
  readonly account: Account;
  readonly form: BodyForm;
  readonly query: BatchSettings;
  readonly body: HeldBody;
  readonly entry: IdempotentCall | null;
};

async function answer(parts: BatchRouteParts, route: BatchRoute, sent: Sent): Promise<Reply> {
  const { call, account, form, body, entry } = sent;
  const stop = new AbortController();
  using cleanUp = new DisposableStack();
  cleanUp.use(parts.runner.enter());
  cleanUp.defer(() => stop.abort());
  const itemsMax = account.plan.maxBatchSize;
  const cut = await parts.runner.split({ kind: route.kind, form, body: body.bytes, itemsMax });
  if (!cut.ok) throw new ApiError(cut.code, cut.message);
  const lines = acceptsLines(call.request);
  const { results, unitsPerItem } = await judgeWhileCut(parts, route, sent, cut, {
    lines,
    signal: stop.signal,
  });
  const { distinct } = await cut.totals;
  // Its items live on in the chunks.
  body[Symbol.dispose]();
  const reservation = parts.meter.reserve(account, distinct * unitsPerItem);
  cleanUp.defer(() => reservation.release());
  const { statuses } = route;
  const { count } = cut;
  const { signal } = stop;
  const run: BatchRun = {
    call,
    signal,
    statuses,
    count,
    chunkCount: cut.chunkCount,
    distinct,
    reservation,
    unitsPerItem,
    results,
    lines,
  };
  if (entry !== null) return await answerKept(run, entry);
  if (cut.chunkCount <= WHOLE_CHUNKS_MAX) return await answerWhole(run);
  return await answerStreamed(run, cleanUp, parts.readerStallMs);
}

/** Begins to judge, and answers when all is cut, however it answers: until then the body and its thread are in use. */
async function judgeWhileCut(
  { runner, meter }: BatchRouteParts,
  route: BatchRoute,
  { query, account }: Sent,
  cut: Cut,
  { lines, signal }: { readonly lines: boolean; readonly signal: AbortSignal },
): Promise<Pick<BatchRun, "results" | "unitsPerItem">> {
  try {
    const settings = { ...query, ...cut.options };
    route.check(settings);
    const unitsPerItem = route.unitsPerItem(settings);
    const results = runner.judge(route.kind, cut, judgeOptions(settings, lines), signal);
    // Only where repeats could be paid for, too: which items are repeats is known when all is cut.
    return {
      unitsPerItem,
      results: meter.covers(account, cut.count * unitsPerItem) ? begun(results) : results,
    };
  } finally {
    await cut.totals.catch(() => undefined);
  }
}

function judgeOptions({ deep = false, dns = true, country }: BatchSettings, lines: boolean): JudgeOptions {
  return { deep, dns, country: country ?? null, separator: lines ? "\n" : "," };
}

/** Lines where they are named, unless the caller would rather have JSON. */
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
