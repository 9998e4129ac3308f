import { ApiError } from "../../contract/errors.ts";
import { PART_BYTES_MAX } from "../../contract/words.ts";

// What parts of uploads are refused for, wherever they are kept.

/** What an account may always keep, as a part of all. */
export const GUARANTEED = 1 / 16;
/** Parts that arrive at a time: each holds 1 MB at most. */
export const ARRIVING = { capacity: 64, guaranteed: 4, overflow: 2 };

export function partTooLarge(): ApiError {
  return new ApiError("payload_too_large", `A part has at most ${PART_BYTES_MAX} bytes.`);
}

export function tooManyArriving(): ApiError {
  return new ApiError("overloaded", "Too many parts are arriving at once; try again shortly.");
}

export function startedAlready(): ApiError {
  return new ApiError("job_not_ready", "The job was started and takes no more parts.");
}

export function tooLarge(jobBytesMax: number): ApiError {
  return new ApiError(
    "payload_too_large",
    `The parts of a job take at most ${jobBytesMax} bytes on the disk in this plan.`,
  );
}

export function noRoom(): ApiError {
  return new ApiError("overloaded", "Uploads take the account's share of the disk; start or delete one.", {
    retryAfterSeconds: 10,
  });
}
