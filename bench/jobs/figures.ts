import { shown } from "../print.ts";

/** What was measured of one job, and of batches before and after it. Times are of one clock. */
export type Measured = {
  readonly rows: number;
  /** Of each batch. */
  readonly batchSize: number;
  readonly before: number;
  readonly after: number;
  readonly sentMs: number;
  readonly acceptedMs: number;
  readonly endedMs: number;
  readonly firstResultMs: number;
  readonly readMs: number;
  readonly jobMicroseconds: string;
  readonly batchMicroseconds: string;
  readonly readingMb: number;
  readonly peakMb: number;
  readonly diskBytes: number;
  readonly stored: number;
};

/** Returns the rows of the table: what, its figure, a note. */
export function figuresOf(measured: Measured): readonly (readonly [string, string, string])[] {
  const { rows, batchSize, before, after, sentMs, acceptedMs, endedMs, firstResultMs, readMs } = measured;
  const { jobMicroseconds, batchMicroseconds, readingMb, peakMb, diskBytes, stored } = measured;
  const jobPerSecond = (rows * 1_000) / (endedMs - acceptedMs);
  const wholePerSecond = (rows * 1_000) / (endedMs - sentMs);
  const batchPerSecond = (before + after) / 2;
  return [
    ["rows", shown(rows), ""],
    [
      `synchronous batches of ${shown(batchSize)}`,
      `${shown(batchPerSecond)} rows/s`,
      `${shown(before)} before, ${shown(after)} after`,
    ],
    [
      "intake: from the first byte to the 202",
      `${shown((acceptedMs - sentMs) / 1_000)} s`,
      `${shown((rows * 1_000) / (acceptedMs - sentMs))} rows/s`,
    ],
    ["first result behind the 202", `${shown(firstResultMs)} ms`, "at most 2,000"],
    [
      "job, from the 202 to its end",
      `${shown(jobPerSecond)} rows/s`,
      `${shown(jobPerSecond / batchPerSecond)} of batches; at least 0.8`,
    ],
    [
      "job, from the first byte to its end",
      `${shown(wholePerSecond)} rows/s`,
      `${shown(wholePerSecond / batchPerSecond)} of batches`,
    ],
    ["CPU of a job's row", jobMicroseconds, "of the server's threads, after the 202"],
    ["CPU of a batch's row", batchMicroseconds, "of the server's threads"],
    ["CSV download", `${shown((rows * 1_000) / readMs)} rows/s`, ""],
    ["highest resident memory", `${shown(peakMb)} MB`, `at most 700; ${shown(readingMb)} MB until the 202`],
    [
      "disk at its highest",
      `${shown(diskBytes / 1e6)} MB`,
      `${shown(diskBytes / stored)} of ${shown(stored / 1e6)} MB compressed; at most 1.2`,
    ],
  ];
}
