import type { Account } from "../accounts/key-ring.ts";
import { inGroups } from "../batch/in-order.ts";
import { addCounts } from "../batch/judge.ts";
import type { BatchKind, BodyForm, JudgeOutcome, SplitOutcome } from "../batch/messages.ts";
import type { BatchRunner } from "../batch/runner.ts";
import { ApiError } from "../errors.ts";
import type { IdempotentCall } from "../metering/idempotency.ts";
import type { Meter } from "../metering/meter.ts";
import type { Reservation } from "../metering/reservation.ts";
import type { Call, Handler } from "./boundary.ts";
import { byteStream } from "./byte-stream.ts";
import type { Guard } from "./guard.ts";
import type { Idempotent } from "./idempotent.ts";
import { JSON_TYPE, NDJSON_TYPE, type Reply } from "./reply.ts";
import { isJson, mediaType, readBytes } from "./request-body.ts";

/** What callers may say about a whole batch, in the query or in a JSON body. */
export type BatchSettings = { readonly deep?: boolean; readonly dns?: boolean; readonly country?: string };

/** The JSON reply of a batch. */
export type BatchBody<Result> = {
  readonly count: number;
  readonly results: readonly Result[];
  readonly summary: { readonly [word: string]: number };
};

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
  readonly guard: Guard;
  readonly meter: Meter;
  readonly runner: BatchRunner;
  readonly idempotent: Idempotent;
  readonly bodyBytesMax: number;
  readonly readerStallMs: number;
};

/** Replies of up to so many chunks are made whole before their headers leave, which then tell the exact units. */
const WHOLE_CHUNKS_MAX = 2;

/** Chunks that are charged together: a commit takes longer than a chunk's way to the reader. */
const CHUNKS_PER_CHARGE = 4;

type SplitBatch = Extract<SplitOutcome, { ok: true }>;

/** A batch on its way. */
type Run = {
  readonly call: Call;
  readonly route: BatchRoute;
  readonly batch: SplitBatch;
  readonly reservation: Reservation;
  readonly unitsPerItem: number;
  readonly results: AsyncGenerator<JudgeOutcome, void, undefined>;
  readonly lines: boolean;
};

/** A POST of a batch: cut, reserve, look up, judge, and stream; each chunk is charged before its bytes leave. */
export function batchHandler(parts: BatchRouteParts, route: BatchRoute): Handler {
  return async (call) => {
    const account = parts.guard.admit(call);
    const form = bodyForm(call.request);
    const query = route.readQuery(call.request.url);
    const body = await readBytes(call.request, parts.bodyBytesMax);
    call.allowSilence(parts.readerStallMs);
    return parts.idempotent(call, account, body, (entry) =>
      answer(parts, route, { call, account, form, query, body, entry }),
    );
  };
}

type Sent = {
  readonly call: Call;
  readonly account: Account;
  readonly form: BodyForm;
  readonly query: BatchSettings;
  readonly body: Uint8Array;
  readonly entry: IdempotentCall | null;
};

async function answer(parts: BatchRouteParts, route: BatchRoute, sent: Sent): Promise<Reply> {
  const { call, account, form, query, body, entry } = sent;
  const stop = new AbortController();
  using cleanUp = new DisposableStack();
  cleanUp.use(parts.runner.enter());
  const itemsMax = account.plan.maxBatchSize;
  const batch = await parts.runner.split({ kind: route.kind, form, body, itemsMax });
  if (!batch.ok) throw new ApiError(batch.code, batch.message);
  const settings = { ...query, ...batch.options };
  route.check(settings);
  const unitsPerItem = route.unitsPerItem(settings);
  const reservation = parts.meter.reserve(account, batch.distinct * unitsPerItem);
  cleanUp.defer(() => reservation.release());
  cleanUp.defer(() => stop.abort());
  const lines = acceptsLines(call.request);
  const results = parts.runner.judge(
    route.kind,
    batch.chunks,
    {
      deep: settings.deep ?? false,
      dns: settings.dns ?? true,
      country: settings.country ?? null,
      separator: lines ? "\n" : ",",
    },
    stop.signal,
  );
  const run: Run = { call, route, batch, reservation, unitsPerItem, results, lines };
  if (entry !== null) return await answerKept(run, entry);
  if (batch.chunks.length <= WHOLE_CHUNKS_MAX) return await answerWhole(run);
  const source = chargedParts(run);
  // What fails up to here still gets an answer; afterwards the connection can only be broken off.
  const first = await source.next();
  return answerStreamed(run, resumed(first, source), cleanUp.move(), parts.readerStallMs);
}

/** Judges and charges everything, then answers. */
async function answerWhole(run: Run): Promise<Reply> {
  const texts: Uint8Array[] = [];
  for await (const part of chargedParts(run)) texts.push(part);
  run.call.units = run.reservation.chargedUnits();
  return { status: 200, body: Buffer.concat(texts), headers: replyHeaders(run) };
}

/** Judges everything into the kept reply and charges it in the transaction that keeps it. */
async function answerKept(run: Run, entry: IdempotentCall): Promise<Reply> {
  const kept = await entry.openBody();
  const totals = newTotals();
  await kept.append(opening(run));
  for await (const outcome of run.results) {
    count(totals, outcome);
    await kept.append(outcome.bytes);
  }
  const units = totals.chargeable * run.unitsPerItem;
  await kept.append(closing(run, totals, units));
  const headers = replyHeaders(run);
  const keep = await kept.keep({ status: 200, headers });
  await run.reservation.record({ endpoint: run.call.route, units }, keep);
  run.call.units = units;
  return { status: 200, body: kept.whole(), headers };
}

/** Answers once the first chunk is charged, and judges the rest as it is read. The headers tell the units reserved. */
function answerStreamed(
  run: Run,
  source: AsyncGenerator<Uint8Array, void, undefined>,
  cleanUp: DisposableStack,
  stallMs: number,
): Reply {
  const { call, reservation } = run;
  call.streaming = true;
  call.units = reservation.units;
  const body = byteStream(source, {
    stallMs,
    onError: call.broken,
    onEnd(complete) {
      cleanUp.dispose();
      call.units = reservation.chargedUnits();
      call.finish(200, complete ? "complete" : "cut");
    },
  });
  return { status: 200, body, headers: replyHeaders(run) };
}

/** A generator of which the first value was taken, as if none was. */
async function* resumed(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (first.done !== true) yield first.value;
  yield* rest;
}

/** The reply's bytes in order. The units of a chunk are on disk before its bytes are handed out. */
async function* chargedParts(run: Run): AsyncGenerator<Uint8Array, void, undefined> {
  const { reservation, unitsPerItem } = run;
  const endpoint = run.call.route;
  const totals = newTotals();
  let started = false;
  for await (const outcomes of inGroups(run.results, CHUNKS_PER_CHARGE)) {
    const chargeable = outcomes.reduce((sum, outcome) => sum + outcome.chargeable, 0);
    await reservation.record({ endpoint, units: chargeable * unitsPerItem });
    if (!started) yield opening(run);
    started = true;
    for (const outcome of outcomes) {
      count(totals, outcome);
      yield outcome.bytes;
    }
  }
  if (!started) {
    await reservation.record({ endpoint, units: 0 });
    yield opening(run);
  }
  yield closing(run, totals, reservation.chargedUnits());
}

type Totals = { chunks: number; chargeable: number; readonly counts: { [status: string]: number } };

const newTotals = (): Totals => ({ chunks: 0, chargeable: 0, counts: {} });

function count(totals: Totals, outcome: JudgeOutcome): void {
  totals.chunks += 1;
  totals.chargeable += outcome.chargeable;
  addCounts(totals.counts, outcome.counts);
}

function opening({ lines, batch }: Run): Uint8Array {
  return Buffer.from(lines ? "" : `{"count":${batch.count},"results":[`);
}

function closing({ lines, batch, route }: Run, totals: Totals, units: number): Uint8Array {
  const summary: { [word: string]: number } = {};
  for (const status of route.statuses) summary[status] = totals.counts[status] ?? 0;
  summary.duplicates = batch.count - batch.distinct;
  summary.units_charged = units;
  const text = JSON.stringify(summary);
  if (!lines) return Buffer.from(`],"summary":${text}}`);
  return Buffer.from(`${totals.chunks === 0 ? "" : "\n"}{"count":${batch.count},"summary":${text}}\n`);
}

function replyHeaders({ lines }: Run): { readonly [name: string]: string } {
  return { "Content-Type": lines ? NDJSON_TYPE : JSON_TYPE };
}

function acceptsLines(request: Request): boolean {
  return /\bapplication\/(?:x-)?ndjson\b/i.test(request.headers.get("accept") ?? "");
}

function bodyForm(request: Request): BodyForm {
  const type = mediaType(request);
  if (isJson(type)) return "json";
  if (type === "application/x-ndjson" || type === "application/ndjson") return "ndjson";
  if (type === "text/plain") return "text";
  const known = "application/json, application/x-ndjson or text/plain";
  throw new ApiError("unsupported_media_type", `Send the body as ${known}.`);
}
