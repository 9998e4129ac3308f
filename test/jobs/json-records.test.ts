import { expect, test } from "bun:test";
import { readJsonRecords } from "../../src/jobs/intake/json-records.ts";
import { readNdjsonRecords } from "../../src/jobs/intake/line-records.ts";
import type { RecordSink } from "../../src/jobs/intake/records.ts";

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** Takes records, and keeps those that are not stored as they stand. */
function createSink() {
  const records: string[] = [];
  const sink: RecordSink = {
    take: () => null,
    takeText: (_form, record) => {
      records.push(record);
      return null;
    },
  };
  return { records, sink };
}

const json = (text: string, { sink } = createSink()) => readJsonRecords(piecesOf(text), sink);
const ndjson = (text: string) => readNdjsonRecords(piecesOf(text), createSink().sink, "identity");

/** An item whose text is `deep` deep. */
const itemOf = (deep: number) => `{"value":"a","x":${"[".repeat(deep - 1)}${"]".repeat(deep - 1)}}`;

test("of an object in a JSON list its type and value are stored, and nothing else that it holds", async () => {
  const items = ['{"toJSON":1,"x":[[1]],"value":"12","type":"cpf"}', '{"value":"\\u0001","y":{}}', '"\\ta"'];
  const sink = createSink();
  expect(await json(`{"items":[${items}]}`, sink)).toMatchObject({ body: { firstObject: 0 } });
  expect(sink.records).toEqual(['{"type":"cpf","value":"12"}', '{"value":"\\u0001"}', '"\\ta"']);
});

test.each([513, 50_000])(
  "an item that is nested %d deep is refused by its place, 512 deep is taken",
  async (deep) => {
    const refusal = (place: string) =>
      ({ code: "invalid_json", message: `${place} is nested more than 512 deep.` }) as const;
    expect(await json(`{"items":["a",${itemOf(deep)}]}`)).toEqual({ refusal: refusal("items[1]") });
    expect(await json(`{"items":[${itemOf(512)}]}`)).toMatchObject({ body: { firstObject: 0 } });
    expect(await ndjson(`"a"\n\n${itemOf(deep)}\n`)).toEqual(refusal("Line 3"));
    expect(await ndjson(itemOf(512))).toBeNull();
  },
);

test("what stands beside the items is nested at most 512 deep, as other bodies are", async () => {
  const besides = (deep: number) => json(`{"x":${"[".repeat(deep)}${"]".repeat(deep)},"items":["a"]}`);
  expect(await besides(512)).toMatchObject({ body: { firstObject: null } });
  expect(await besides(513)).toMatchObject({ refusal: { code: "invalid_json" } });
});

test("an item of more values than are read is refused in these words", async () => {
  const values = new Array(500_001).fill(1).join(",");
  expect(await json(`{"items":[{"value":"a","x":[${values}]}]}`)).toMatchObject({
    refusal: { message: "items[0] holds more than 500000 values." },
  });
});
