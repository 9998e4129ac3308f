import { describe, expect, test } from "bun:test";
import { beginCut, type Cut } from "../../src/batch/chunking.ts";
import type { Chunk, SplitEvent, SplitOutcome } from "../../src/batch/messages.ts";

const HEAD: SplitEvent = { head: { count: 6, chunkCount: 3, options: { deep: true } } };

/** Two items each, at positions 0, 2 and 4. */
const CHUNKS: readonly Chunk[] = [0, 2, 4].map((position) => ({
  position,
  items: JSON.stringify([position, position + 1]),
  count: 2,
  repeats: [],
  newDomains: "",
  domainNumbers: null,
}));

/** Cutting that does what the test says when it says so. */
function heldWork() {
  const outcome = Promise.withResolvers<SplitOutcome>();
  let told: (event: SplitEvent) => void = () => undefined;
  return {
    work: (tell: (event: SplitEvent) => void) => {
      told = tell;
      return outcome.promise;
    },
    tell: (...events: readonly SplitEvent[]) => {
      for (const event of events) told(event);
    },
    ...outcome,
  };
}

async function cutOf(outcome: ReturnType<typeof beginCut>): Promise<Cut> {
  const cut = await outcome;
  if (!cut.ok) throw new Error(cut.message);
  return cut;
}

const next = async (chunks: AsyncIterator<Chunk>) => (await chunks.next()).value?.position;

describe("a batch that is being cut", () => {
  test("is known by its head, and hands on each chunk before the next is there", async () => {
    const { work, tell, resolve } = heldWork();
    const beginning = beginCut(work);
    tell(HEAD);
    const cut = await cutOf(beginning);
    expect([cut.count, cut.chunkCount, cut.options]).toEqual([6, 3, { deep: true }]);
    const chunks = cut.chunks[Symbol.asyncIterator]();
    for (const chunk of CHUNKS) {
      const coming = next(chunks);
      tell({ chunks: [chunk] });
      expect(await coming).toBe(chunk.position);
    }
    expect(cut.hasEnded()).toBe(false);
    const end = chunks.next();
    resolve({ ok: true, distinct: 5 });
    expect(await cut.totals).toEqual({ distinct: 5 });
    expect((await end).done).toBe(true);
    expect(cut.hasEnded()).toBe(true);
  });

  test("that is begun anew half way tells no chunk twice", async () => {
    const { work, tell, resolve } = heldWork();
    const beginning = beginCut(work);
    tell(HEAD, { chunks: CHUNKS.slice(0, 2) });
    tell(HEAD, { chunks: CHUNKS.slice(0, 1) }, { chunks: CHUNKS.slice(1) });
    resolve({ ok: true, distinct: 6 });
    const cut = await cutOf(beginning);
    expect(await Array.fromAsync(cut.chunks, ({ position }) => position)).toEqual([0, 2, 4]);
  });

  test("that fails half way fails behind the chunks that are there, and has no totals", async () => {
    const { work, tell, reject } = heldWork();
    const beginning = beginCut(work);
    tell(HEAD, { chunks: CHUNKS.slice(0, 1) });
    const cut = await cutOf(beginning);
    const chunks = cut.chunks[Symbol.asyncIterator]();
    expect(await next(chunks)).toBe(0);
    const coming = chunks.next();
    reject(new Error("the thread is gone"));
    await expect(coming).rejects.toThrow("the thread is gone");
    await expect(cut.totals).rejects.toThrow("the thread is gone");
  });

  test("is refused as the work refuses it, and fails where it fails before it is known", async () => {
    const refusal = { ok: false, code: "invalid_json", message: "no" } as const;
    expect(await beginCut(() => refusal)).toEqual(refusal);
    await expect(beginCut(() => Promise.reject(new Error("no thread")))).rejects.toThrow("no thread");
  });

  test("is whole at once where it is cut on the spot", async () => {
    const cut = await cutOf(
      beginCut((tell) => {
        tell(HEAD);
        tell({ chunks: CHUNKS });
        return { ok: true, distinct: 6 };
      }),
    );
    expect(await Array.fromAsync(cut.chunks, ({ position }) => position)).toEqual([0, 2, 4]);
    expect(await cut.totals).toEqual({ distinct: 6 });
  });
});
