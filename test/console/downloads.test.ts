import { expect, test } from "bun:test";
import { download } from "../../src/console/page/results/download.ts";
import type { Api } from "../../src/console/page/wire/api.ts";
import { Refusal, Unreachable } from "../../src/console/page/wire/refusal.ts";

/** A reply that sends nothing until its call is aborted, as fetch has it. */
function openReply(signal: AbortSignal | null | undefined): Response {
  return new Response(
    new ReadableStream({
      start(body) {
        signal?.addEventListener("abort", () => body.error(signal.reason));
      },
    }),
  );
}

/** Downloads CSV by domain, for which results are read as CSV and as NDJSON, with these replies. */
function downloaded(replyOf: (path: string, signal: AbortSignal | null | undefined) => Response) {
  const signals: (AbortSignal | null | undefined)[] = [];
  const open: Api["open"] = async (path, init) => {
    signals.push(init?.signal);
    return replyOf(path, init?.signal);
  };
  const offered: string[] = [];
  const stop = new AbortController();
  const ended = download({ open } as Api, {
    jobId: "job_1",
    name: "people.csv",
    form: "csv",
    filter: { status: "", subStatus: "", domain: "good.com" },
    onBytes: () => undefined,
    offer: () => void offered.push("people"),
    signal: stop.signal,
  });
  return { ended, stop, offered, areClosed: () => signals.map((signal) => signal?.aborted) };
}

test("a download whose second reply is refused leaves the first one not open", async () => {
  const { ended, areClosed } = downloaded((path, signal) => {
    if (path.includes("format=csv")) return openReply(signal);
    throw new Refusal("Too many downloads.", { status: 503, code: "overloaded", requestId: null });
  });
  await expect(ended).rejects.toThrow("Too many downloads.");
  expect(areClosed()).toEqual([true, true]);
});

test("a download that is stopped ends both of its replies", async () => {
  const { ended, stop, areClosed } = downloaded((_, signal) => openReply(signal));
  stop.abort();
  await expect(ended).rejects.toThrow("aborted");
  expect(areClosed()).toEqual([true, true]);
});

test("a download whose reply breaks off says that the server does not answer, and is not kept", async () => {
  const { ended, offered } = downloaded((path, signal) => {
    if (!path.includes("format=csv")) return openReply(signal);
    return new Response(new ReadableStream({ pull: (body) => body.error(new TypeError("network error")) }));
  });
  await expect(ended).rejects.toBeInstanceOf(Unreachable);
  expect(offered).toEqual([]);
});
