import type { VerifiedChunk } from "../../batch/messages.ts";
import type { Reservation } from "../../billing/reservation.ts";
import { isBitSet } from "../../platform/bits.ts";
import type { ClaimedChunk } from "../../store/job-records.ts";
import { recordFormOf } from "../intake/records.ts";
import type { Job } from "../job.ts";

/** Rows of a chunk with their results, and the reservation of their units. */
export type VerifiedRows = {
  readonly rows: readonly number[];
  readonly verified: VerifiedChunk;
  readonly reservation: Reservation;
};

/** Counts the rows among the next `rowsMax` of a chunk that are not duplicates. */
export function countDistinct({ rows, rowsDone, duplicates }: ClaimedChunk, rowsMax: number): number {
  const end = Math.min(rows, rowsDone + rowsMax);
  if (duplicates === null) return end - rowsDone;
  let distinct = 0;
  for (let row = rowsDone; row < end; row++) if (!isBitSet(duplicates, row)) distinct += 1;
  return distinct;
}

/** Returns the fields of a chunk that every task of a thread takes. */
export function storedChunk(job: Job, { form, body, duplicates }: ClaimedChunk) {
  const { kind, options, table } = job;
  return { form: recordFormOf(form), body: copied(body), kind, type: options.type, table, duplicates };
}

/** Returns bytes in a buffer of their own: what the database returns may be a view into a larger one. */
export function copied(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
