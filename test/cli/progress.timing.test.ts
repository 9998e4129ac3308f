import { expect, test } from "bun:test";
import { createProgress, durationText } from "../../src/cli/progress.ts";

/** A stream that keeps what is written to it, and a clock that is moved by hand. */
function screen(isTTY: boolean) {
  const written: string[] = [];
  let ms = 1000;
  const stream = {
    isTTY,
    columns: 100,
    write: (text: string) => {
      written.push(text);
      return true;
    },
  };
  return {
    written,
    stream: stream as unknown as NodeJS.WriteStream,
    clock: { now: () => ms, monotonic: () => ms },
    advance: (by: number) => {
      ms += by;
    },
  };
}

test("elsewhere than on a terminal there is a line every five seconds, with rate and time left", () => {
  const { written, stream, clock, advance } = screen(false);
  const progress = createProgress({ stream, quiet: false, bytesTotal: 1_000_000, clock });
  // An earlier run has done 50,000 rows: they do not count as speed.
  progress.update({ rows: 50_000, bytes: 500_000 });
  advance(4900);
  progress.update({ rows: 54_900, bytes: 549_000 });
  expect(written).toEqual([]);
  advance(100);
  progress.update({ rows: 55_000, bytes: 550_000 });
  advance(100);
  progress.update({ rows: 55_100, bytes: 551_000 });
  progress.stop();
  expect(written).toEqual(["55,000 rows (55%), 1,000/s, 45 s left\n"]);
});

test("where the length is unknown neither a share nor the time left is shown", () => {
  const { written, stream, clock, advance } = screen(false);
  const progress = createProgress({ stream, quiet: false, bytesTotal: null, clock });
  progress.update({ rows: 500, bytes: 1000 });
  advance(10_000);
  progress.update({ rows: 1500, bytes: 3000 });
  expect(written).toEqual(["1,500 rows, 100/s\n"]);
});

test("on a terminal there is a bar that goes away", () => {
  const { written, stream, clock, advance } = screen(true);
  const progress = createProgress({ stream, quiet: false, bytesTotal: 1000, clock });
  progress.update({ rows: 100, bytes: 250 });
  advance(1000);
  progress.update({ rows: 200, bytes: 500 });
  progress.stop();
  const text = written.join("");
  expect(text).toContain("50% | 200 rows | 100/s | 2 s left");
  expect(text).toContain("█");
});

test("quiet is silent on both", () => {
  for (const isTTY of [true, false]) {
    const { written, stream, clock, advance } = screen(isTTY);
    const progress = createProgress({ stream, quiet: true, bytesTotal: 1000, clock });
    advance(60_000);
    progress.update({ rows: 200, bytes: 500 });
    progress.stop();
    expect(written).toEqual([]);
  }
});

test("durations are shown in the two largest units", () => {
  expect([0, 59.6, 130, 3600, 7325].map(durationText)).toEqual([
    "0 s",
    "1 min 0 s",
    "2 min 10 s",
    "1 h 0 min",
    "2 h 2 min",
  ]);
});
