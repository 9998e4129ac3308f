import { describe, expect, test } from "bun:test";
import { createBodyChunker } from "../../src/batch/body-chunker.ts";
import { createChunkVerifier } from "../../src/batch/chunk-verifier.ts";
import { chunkSizes } from "../../src/batch/chunk-window.ts";
import {
  type BatchKind,
  type ChunkingEvent,
  NO_DOMAIN,
  NUMBERS_PER_OFFSET,
  OFFSET_BYTES,
  type SharedFacts,
  type VerifyTask,
} from "../../src/batch/messages.ts";
import { createFactsBuffer } from "../../src/batch/shared-facts.ts";
import { createVerdictCache } from "../../src/batch/verdict-cache.ts";
import { DOCUMENT_TYPES, type DocumentType } from "../../src/contract/words.ts";
import { phoneWithoutCard } from "../../src/verification/card-redaction.ts";
import { validateDocument } from "../../src/verification/documents/registry.ts";
import type { DomainFacts } from "../../src/verification/email/domain-facts.ts";
import { validatePhone } from "../../src/verification/phone/validation.ts";

/** What is known of the domains of a batch, numbered in this order. */
function known(...domains: readonly (readonly [domain: string, mail: DomainFacts["mail"]])[]): SharedFacts {
  const factsBuffer = createFactsBuffer();
  const offsets = new SharedArrayBuffer((domains.length + 1) * OFFSET_BYTES);
  const buffers = domains.map(([domain, mail], number) => {
    const facts = { domain, mail, lists: { disposable: null, freeProvider: false } };
    const { buffer, key, start, end } = factsBuffer.put({
      json: JSON.stringify(facts),
      epoch: 0,
      expiresAtMs: Number.POSITIVE_INFINITY,
      isFailure: false,
      domainVerdict: null,
    });
    new Float64Array(offsets).set([key, start, end], number * NUMBERS_PER_OFFSET);
    return buffer;
  });
  return { buffers, offsets };
}

const EXCHANGE: DomainFacts["mail"] = {
  state: "mx",
  hosts: ["mx.good.com"],
  targets: "public",
  cname: false,
  partlyDead: false,
  nullMixed: false,
};

function task(kind: BatchKind, items: readonly unknown[], more: Partial<VerifyTask> = {}): VerifyTask {
  const written = { items: JSON.stringify(items), count: items.length };
  const base = { kind, ...written, duplicates: new Uint32Array(0), domainNumbers: null, facts: null };
  return { ...base, country: null, separator: ",", continues: false, ...more };
}

async function vectorsOf(type: DocumentType): Promise<(readonly [DocumentType, string])[]> {
  const files = ["valid", "invalid"].map((kind) =>
    Bun.file(`${import.meta.dir}/../vectors/documents/${type}.${kind}.txt`).text(),
  );
  const lines = (await Promise.all(files)).flatMap((text) => text.split("\n").slice(0, 40));
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => [type, line.split("\t")[0] ?? ""]);
}

const results = (bytes: Uint8Array) => JSON.parse(`[${new TextDecoder().decode(bytes).replace(/^,/, "")}]`);

describe("a chunk", () => {
  test("is verified in order, counted, and charged but for duplicates and our own failures", () => {
    const { verify } = createChunkVerifier();
    const outcome = verify(
      task("email", ["ann@good.com", "bob@late.com", "ann@good.com", "no address"], {
        domainNumbers: Uint32Array.of(0, 1, 0, NO_DOMAIN),
        facts: known(["good.com", EXCHANGE], ["late.com", { state: "timeout" }]),
        duplicates: Uint32Array.of(2),
      }),
    );
    expect(results(outcome.bytes).map(({ sub_status }: { sub_status: string }) => sub_status)).toEqual([
      "accepts_mail",
      "dns_timeout",
      "accepts_mail",
      "invalid_syntax",
    ]);
    expect(outcome.counts).toEqual({ deliverable: 2, unknown: 1, undeliverable: 1 });
    expect(outcome.chargeable).toBe(2);
  });

  test("that continues a reply begins with the separator", () => {
    const { verify } = createChunkVerifier();
    const { bytes } = verify(task("phone", ["+5511987654321"], { separator: "\n", continues: true }));
    expect(new TextDecoder().decode(bytes)).toStartWith('\n{"phone":"+5511987654321"');
  });

  test("has the same results by lines as in a list, whatever they contain", async () => {
    const { verify } = createChunkVerifier();
    const hostile = ['a},{"email":"b', '"},{"', "},{", '\\"},{\\"', "a\nb@c.com", "\u2028"];
    const documents = await Promise.all(DOCUMENT_TYPES.map(vectorsOf));
    const items = {
      email: [...hostile, "ann@gmial.con", "x@y"],
      phone: [...hostile, "+5511987654321", "+39 06 6982"],
      identity: documents.flat().flatMap(([type, value]) => [[type, value] as const, [null, value] as const]),
    };
    for (const kind of ["email", "phone", "identity"] as const) {
      const one = task(kind, items[kind], { domainNumbers: new Uint32Array(1000).fill(NO_DOMAIN) });
      const list = new TextDecoder().decode(verify(one).bytes);
      const lines = new TextDecoder().decode(verify({ ...one, separator: "\n" }).bytes).split("\n");
      expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(`[${list}]`));
      expect(lines.length).toBe(items[kind].length);
    }
  });

  test("is what JSON.stringify writes of the results of its numbers and documents, card numbers hidden", async () => {
    const { verify } = createChunkVerifier();
    const numbers = ["+5511987654321", "(11) 98765-4321", '+55 "x"', "+39 06 6982", "+1 800 555 0199", "٠١١"];
    const phones = [...numbers, "4242 4242 4242 4242", ...numbers, ...numbers];
    const brazil = { country: "BR" };
    const chunk = verify(task("phone", phones, { country: "BR", continues: true }));
    const phoneResults = phones.map((text) => phoneWithoutCard(validatePhone(text, brazil)));
    expect(new TextDecoder().decode(chunk.bytes)).toBe(`,${JSON.stringify(phoneResults).slice(1, -1)}`);
    expect(chunk.counts).toEqual({
      valid: phoneResults.filter(({ valid }) => valid).length,
      invalid: phoneResults.filter(({ valid }) => !valid).length,
    });

    const documents = (await Promise.all(DOCUMENT_TYPES.map(vectorsOf))).flat();
    const { bytes } = verify(task("identity", documents));
    const documentResults = documents.map(([type, value]) => validateDocument(type, value));
    expect(new TextDecoder().decode(bytes)).toBe(JSON.stringify(documentResults).slice(1, -1));
  });

  test("that broke its threads has every item answered check_failed, and none charged", () => {
    const { failed } = createChunkVerifier();
    const chunks = [
      task("email", ["ann@good.com"]),
      task("phone", ["+5511987654321"]),
      task("identity", [
        ["iban", "DE89370400440532013000"],
        [null, "4242424242424242"],
      ]),
    ];
    for (const chunk of chunks) {
      const outcome = failed(chunk);
      const text = new TextDecoder().decode(outcome.bytes);
      expect(outcome.chargeable).toBe(0);
      expect(text).toContain("check_failed");
      expect(text).not.toContain("4242424242424242");
    }
  });

  test("an item whose facts are missing fails by itself, and its neighbours do not", () => {
    const { verify } = createChunkVerifier();
    const outcome = verify(
      task("email", ["ann@good.com", "bob@unknown.com"], {
        domainNumbers: Uint32Array.of(0, 1),
        facts: known(["good.com", EXCHANGE]),
      }),
    );
    expect(results(outcome.bytes).map(({ sub_status }: { sub_status: string }) => sub_status)).toEqual([
      "accepts_mail",
      "check_failed",
    ]);
    expect(outcome.chargeable).toBe(1);
  });
});

describe("verdicts on domains", () => {
  test("are those of the domain that is asked for, also where there are more than are remembered", () => {
    const names = Array.from({ length: 50 }, (_, n) => `d${n}.com`);
    const facts = known(...names.map((name) => [name, EXCHANGE] as const));
    const domainNumbers = Uint32Array.from(names, (_, number) => number);
    const domainVerdictAt = createVerdictCache(8)({ facts, domainNumbers });
    for (let round = 0; round < 3; round += 1) {
      expect(names.map((_, position) => domainVerdictAt(position)?.domain)).toEqual(names);
    }
    expect(domainVerdictAt(49)).toBe(domainVerdictAt(49));
    expect(domainVerdictAt(50)).toBeUndefined();
  });
});

describe("a body that is made into chunks", () => {
  const chunksOf = (emails: readonly string[], chunkItems: number, chunkItemsMax = chunkItems) => {
    const body = new TextEncoder().encode(JSON.stringify({ emails }));
    const events: ChunkingEvent[] = [];
    const task = {
      kind: "email",
      form: "json",
      body,
      itemsMax: 100,
      chunksEnough: 25,
      chunkItemsMin: chunkItems,
      chunkItemsMax,
    } as const;
    const outcome = createBodyChunker()(task, (event) => events.push(event));
    if (!outcome.ok) throw new Error(outcome.message);
    const [first, ...rest] = events;
    const groups = rest.map((event) => ("chunks" in event ? event.chunks : []));
    return { first, distinct: outcome.distinct, groups, chunks: groups.flat() };
  };

  test("has larger chunks the more it holds, between the least and the most", () => {
    const sizes = [1, 40, 60, 75, 90, 100].map((count) => {
      const emails = Array.from({ length: count }, (_, n) => `user${n}@x.com`);
      const { first, chunks } = chunksOf(emails, 2, 3);
      expect(first).toMatchObject({ head: { count, chunkCount: chunks.length } });
      expect(chunks.flatMap(({ items }) => JSON.parse(items))).toEqual(emails);
      return Math.max(...chunks.map((chunk) => chunk.count));
    });
    expect(sizes).toEqual([1, 2, 3, 3, 3, 3]);
  });

  test("begins with a chunk of the least size, so that the first results do not wait for a large one", () => {
    const sizesOf = (count: number) => {
      const emails = Array.from({ length: count }, (_, n) => `user${n}@x.com`);
      return chunksOf(emails, 2, 30).chunks.map((chunk) => chunk.count);
    };
    expect(sizesOf(100)).toEqual([2, ...new Array(24).fill(4), 2]);
    expect(sizesOf(5)).toEqual([2, 2, 1]);
  });

  test("has about four chunks for each thread, at most 25, of whole thousands from one to four", () => {
    const emails = Array.from({ length: 100_000 }, (_, n) => `u${n}@x.com`);
    const sizesOf = (count: number, threads: number) => {
      const body = new TextEncoder().encode(JSON.stringify({ emails: emails.slice(0, count) }));
      const task = { kind: "email", form: "json", body, itemsMax: count, ...chunkSizes(threads) } as const;
      const sizes: number[] = [];
      createBodyChunker()(task, (event) => {
        if ("chunks" in event) sizes.push(...event.chunks.map((chunk) => chunk.count));
      });
      return sizes;
    };
    expect(sizesOf(10_000, 1)).toEqual([1_000, 3_000, 3_000, 3_000]);
    expect(sizesOf(10_000, 2)).toEqual(new Array(10).fill(1_000));
    expect(sizesOf(18_000, 2)).toEqual([1_000, ...new Array(8).fill(2_000), 1_000]);
    expect(sizesOf(10_000, 16)).toEqual(new Array(10).fill(1_000));
    expect(sizesOf(50_000, 16)).toEqual([1_000, ...new Array(24).fill(2_000), 1_000]);
    expect(sizesOf(100_000, 1)).toEqual([1_000, ...new Array(24).fill(4_000), 3_000]);
  });

  test("keeps order, counts the distinct items, and marks duplicates over the borders of chunks", () => {
    const { first, distinct, chunks } = chunksOf(["a@x.com", "b@y.com", "a@x.com", "c@x.com", "b@y.com"], 2);
    expect(first).toEqual({ head: { count: 5, chunkCount: 3, options: {} } });
    expect(distinct).toBe(3);
    expect(chunks.map(({ items }) => JSON.parse(items))).toEqual([
      ["a@x.com", "b@y.com"],
      ["a@x.com", "c@x.com"],
      ["b@y.com"],
    ]);
    expect(chunks.map(({ duplicates }) => [...duplicates])).toEqual([[], [0], [0]]);
    expect(chunks.map(({ position }) => position)).toEqual([0, 2, 4]);
  });

  test("is emitted in groups that grow, so that the first are there soon and the last in few messages", () => {
    const { groups } = chunksOf(
      Array.from({ length: 20 }, (_, n) => `a${n}@x.com`),
      1,
    );
    expect(groups.map(({ length }) => length)).toEqual([2, 4, 8, 6]);
  });

  test("numbers the domains as the DNS is asked for them, each once, and none that needs no look-up", () => {
    const emails = ["a@X.com", "b@x.COM", "c@bücher.de", "d@no..dots", "e@f.invalid", "f@x.com", "g@y.com"];
    const { chunks } = chunksOf(emails, 5);
    expect(chunks.map(({ newDomains }) => newDomains)).toEqual(["x.com\nxn--bcher-kva.de", "y.com"]);
    expect(chunks.map(({ domainNumbers }) => domainNumbers)).toEqual([
      Uint32Array.of(0, 0, 1, NO_DOMAIN, NO_DOMAIN),
      Uint32Array.of(0, 2),
    ]);
  });
});
