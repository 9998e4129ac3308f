import { createReplyWriter } from "../batch/compression.ts";
import { inGroups, prepend } from "../batch/concurrent-map.ts";
import type { ChunkEncoding, VerifiedChunk } from "../batch/messages.ts";
import { addCounts } from "../batch/verifier.ts";
import type { IdempotentCall } from "../billing/idempotency.ts";
import type { Reservation } from "../billing/reservation.ts";
import { freeBytes } from "../platform/free-bytes.ts";
import { byteStream } from "./bodies/byte-stream.ts";
import type { Call } from "./call.ts";
import { partsOf, placedStream } from "./placed-stream.ts";
import { JSON_TYPE, NDJSON_TYPE, type Reply } from "./reply.ts";

/** A batch whose units are reserved. */
export type BatchRun = {
  readonly call: Call;
  /** Aborted when the call ends, which stops verifying and charging. */
  readonly signal: AbortSignal;
  /** The words of the summary. */
  readonly statuses: readonly string[];
  readonly count: number;
  readonly chunkCount: number;
  /** Items that are not duplicates of an earlier one. */
  readonly distinct: number;
  readonly reservation: Reservation;
  readonly unitsPerItem: number;
  readonly results: AsyncGenerator<VerifiedChunk, void, undefined>;
  /** JSON lines rather than one object. */
  readonly lines: boolean;
  /** The encoding of chunks from threads; small chunks are plain text. */
  readonly encoding: ChunkEncoding | null;
};

/** About the items of one charge: smaller charges cost the disk or the shared database as much each. */
const ITEMS_PER_CHARGE = 8000;
/** The reply starts this long after its first chunk at the latest: what comes until then is one charge with it. */
const FIRST_CHARGE_MS = 50;

/** Returns the chunks of each charge, equal groups. */
function chunksByCharge({ count, chunkCount }: BatchRun): readonly number[] {
  const charges = Math.max(1, Math.round(count / ITEMS_PER_CHARGE));
  const before = (charge: number) => Math.round((chunkCount * charge) / charges);
  return Array.from({ length: charges }, (_, charge) => before(charge + 1) - before(charge));
}

/** Verifies everything, charges it at once, then replies. */
export async function replyWhole(run: BatchRun): Promise<Reply> {
  const texts: Uint8Array[] = [];
  for await (const part of chargedBytes(run, [run.chunkCount])) texts.push(part);
  if (run.signal.aborted) return unreadReply(run);
  run.call.units = run.reservation.chargedUnits();
  const body = Buffer.concat(texts);
  for (const text of texts) freeBytes(text);
  return { status: 200, body, headers: replyHeaders(run), isWithoutLength: true };
}

/** The reply of a call whose caller has left. What was charged until then stays charged. */
export function unreadReply({ call, reservation }: BatchRun): Reply {
  call.streaming = true;
  call.units = reservation.chargedUnits();
  call.finish(200, "cut");
  return { status: 200, body: "" };
}

/** Verifies everything into the kept reply and charges it in the transaction that keeps it. */
export async function replyKept(run: BatchRun, entry: IdempotentCall): Promise<Reply> {
  const kept = await entry.openBody();
  const totals = newTotals();
  await kept.append(opening(run));
  for await (const outcome of run.results) {
    add(totals, outcome);
    await kept.append(outcome.bytes);
  }
  const units = totals.chargeable * run.unitsPerItem;
  await kept.append(closing(run, totals, units));
  const headers = replyHeaders(run);
  const keep = await kept.keep({ status: 200, headers });
  await run.reservation.record({ endpoint: run.call.route, units }, keep);
  run.call.units = units;
  return { status: 200, body: kept.whole(), headers, isWithoutLength: true };
}

/**
 * Replies once the first charge is on disk, and verifies the rest as it is read. The headers contain the reserved units.
 * Takes ownership of the resources to clean up.
 */
export async function replyStreamed(
  run: BatchRun,
  cleanUp: DisposableStack,
  stallMs: number,
): Promise<Reply> {
  const { call, reservation } = run;
  const source = chargedBytes(run, chunksByCharge(run), () => Bun.sleep(FIRST_CHARGE_MS));
  // Failures up to here are answered; later ones can only break off the connection.
  const first = await source.next();
  const left = cleanUp.move();
  call.streaming = true;
  call.units = reservation.units;
  const body = byteStream(prepend(first, source), {
    stallMs,
    // The connection has copied the part, which the threads have compressed already.
    onTaken: freeBytes,
    onError: (error: unknown) => call.reportError(error),
    onEnd: () => left.dispose(),
    // A charge that was being written when the reader left is counted.
    onSettled(complete) {
      call.units = reservation.chargedUnits();
      call.finish(200, complete ? "complete" : "cut");
    },
  });
  return { status: 200, body, headers: replyHeaders(run) };
}

/** Returns a kept reply, which is read from its file or row and costs no units, so that it holds its place until it is read. */
export function untilRead(reply: Reply, call: Call, place: DisposableStack, stallMs: number): Reply {
  const { body, status } = reply;
  if (call.streaming || !(body instanceof ReadableStream)) return reply;
  const read = placedStream(call, partsOf(body), { status, stallMs, place: place.move() });
  return { ...reply, body: read };
}

/** Yields the bytes of the reply in order. The units of a chunk are on disk before its bytes are yielded. */
async function* chargedBytes(
  run: BatchRun,
  chunksOfCharges: readonly number[],
  firstDue?: () => Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { reservation, unitsPerItem } = run;
  const endpoint = run.call.route;
  const totals = newTotals();
  const writer = createReplyWriter(run.encoding);
  let started = false;
  for await (const outcomes of inGroups(run.results, chunksOfCharges, firstDue)) {
    if (run.signal.aborted) return;
    const chargeable = outcomes.reduce((sum, outcome) => sum + outcome.chargeable, 0);
    await reservation.record({ endpoint, units: chargeable * unitsPerItem });
    if (!started) yield writer.text(opening(run));
    started = true;
    for (const outcome of outcomes) {
      add(totals, outcome);
      yield writer.chunk(outcome);
    }
  }
  if (!started) {
    await reservation.record({ endpoint, units: 0 });
    yield writer.text(opening(run));
  }
  yield writer.text(closing(run, totals, reservation.chargedUnits()));
  yield writer.end();
}

type Totals = { chunks: number; chargeable: number; readonly counts: { [status: string]: number } };

const newTotals = (): Totals => ({ chunks: 0, chargeable: 0, counts: {} });

function add(totals: Totals, outcome: VerifiedChunk): void {
  totals.chunks += 1;
  totals.chargeable += outcome.chargeable;
  addCounts(totals.counts, outcome.counts);
}

function opening({ lines, count }: BatchRun): Uint8Array {
  return Buffer.from(lines ? "" : `{"count":${count},"results":[`);
}

function closing({ lines, count, distinct, statuses }: BatchRun, totals: Totals, units: number): Uint8Array {
  const summary: { [word: string]: number } = {};
  for (const status of statuses) summary[status] = totals.counts[status] ?? 0;
  summary.duplicates = count - distinct;
  summary.units_charged = units;
  const text = JSON.stringify(summary);
  if (!lines) return Buffer.from(`],"summary":${text}}`);
  return Buffer.from(`${totals.chunks === 0 ? "" : "\n"}{"count":${count},"summary":${text}}\n`);
}

function replyHeaders({ lines, encoding }: BatchRun): { readonly [name: string]: string } {
  const type = { "Content-Type": lines ? NDJSON_TYPE : JSON_TYPE };
  return encoding === null ? type : { ...type, "Content-Encoding": encoding, Vary: "Accept-Encoding" };
}
