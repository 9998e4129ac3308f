import { SingleBar } from "cli-progress";
import { nounOf } from "../contract/noun.ts";
import type { Clock } from "../platform/clock.ts";

/** Shows the user how far a run has come. */
export type Progress = {
  readonly update: (done: { readonly rows: number; readonly bytes: number }) => void;
  /** Takes the bar away. */
  readonly stop: () => void;
};

export type ProgressSettings = {
  readonly stream: NodeJS.WriteStream;
  readonly quiet: boolean;
  /** Null: unknown, so that neither a share nor the time left can be shown. */
  readonly bytesTotal: number | null;
  readonly clock: Clock;
};

/** Between two lines where there is no terminal. */
const LINE_INTERVAL_MS = 5000;
const SILENT: Progress = { update: () => {}, stop: () => {} };

/** Draws a bar on a terminal, a line now and then elsewhere. */
export function createProgress(settings: ProgressSettings): Progress {
  if (settings.quiet) return SILENT;
  return settings.stream.isTTY ? createBar(settings) : createLines(settings);
}

function createBar({ stream, bytesTotal, clock }: ProgressSettings): Progress {
  const pace = createPace(bytesTotal, clock);
  const counts = "{rows} | {rate}/s";
  const bar = new SingleBar({
    stream,
    format: bytesTotal === null ? counts : `{bar} {percentage}% | ${counts} | {left} left`,
    barsize: 24,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    clearOnComplete: true,
    gracefulExit: false,
    hideCursor: false,
  });
  bar.start(bytesTotal ?? 1, 0, { rows: counted(0, "row"), rate: "–", left: "–" });
  return {
    update(done) {
      const { rate, left } = pace(done);
      bar.update(bytesTotal === null ? 0 : done.bytes, { rows: counted(done.rows, "row"), rate, left });
    },
    stop: () => bar.stop(),
  };
}

function createLines({ stream, bytesTotal, clock }: ProgressSettings): Progress {
  const pace = createPace(bytesTotal, clock);
  let nextMs = clock.monotonic() + LINE_INTERVAL_MS;
  return {
    update(done) {
      const { rate, left } = pace(done);
      if (clock.monotonic() < nextMs) return;
      nextMs = clock.monotonic() + LINE_INTERVAL_MS;
      const share =
        bytesTotal === null ? "" : ` (${Math.floor((100 * done.bytes) / Math.max(1, bytesTotal))}%)`;
      const rest = bytesTotal === null ? "" : `, ${left} left`;
      stream.write(`${counted(done.rows, "row")}${share}, ${rate}/s${rest}\n`);
    },
    stop: () => {},
  };
}

/** The rate and the time left since the first report, without the rows of an earlier run. */
function createPace(bytesTotal: number | null, clock: Clock) {
  let first: { readonly rows: number; readonly bytes: number; readonly ms: number } | null = null;
  return (done: { readonly rows: number; readonly bytes: number }) => {
    const ms = clock.monotonic();
    first ??= { ...done, ms };
    const seconds = (ms - first.ms) / 1000;
    const bytes = done.bytes - first.bytes;
    if (seconds <= 0) return { rate: "–", left: "–" };
    return {
      rate: grouped(Math.round((done.rows - first.rows) / seconds)),
      left:
        bytesTotal === null || bytes <= 0 ? "–" : durationText((seconds * (bytesTotal - done.bytes)) / bytes),
    };
  };
}

export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** @example counted(2000, "row") // "2,000 rows" */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${nounOf(count, noun)}`;
}

/** @example durationText(130) // "2 min 10 s" */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
