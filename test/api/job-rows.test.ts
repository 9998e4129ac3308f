import { describe, expect, test } from "bun:test";
import type { Job } from "../../src/client/contract-types.ts";
import { jsonOf } from "../support/json.ts";
import { startFileServer } from "../support/server.ts";

const server = await startFileServer();

const NDJSON = { "Content-Type": "application/x-ndjson" };
const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");

async function ended(key: string, body: string, query: string, headers = NDJSON): Promise<Job> {
  const made = await server.call(`/v1/jobs${query}`, { key, body, headers });
  expect(made.status).toBe(202);
  const path = `/v1/jobs/${(await jsonOf<Job>(made)).job_id}`;
  await (await server.call(`${path}/events`, { key })).text();
  return jsonOf<Job>(await server.call(path, { key }));
}

describe("a row that repeats an earlier one costs what it costs in a batch", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    [
      "addresses with fields of the caller's own",
      "email",
      lines(
        { email: "a@good.com", type: "lead" },
        { type: "customer", email: "a@good.com" },
        { email: "a@good.com", type: 7 },
        "a@good.com",
        { email: "b@good.com" },
      ),
    ],
    [
      "phone numbers with fields of the caller's own",
      "phone",
      lines({ phone: "+14155552671", type: "mobile" }, { phone: "+14155552671" }, "+14155552671"),
    ],
    [
      "documents with types, which are theirs",
      "identity",
      lines(
        { type: "cpf", value: "529.982.247-25" },
        { value: "529.982.247-25", type: "cpf" },
        { type: null, value: "529.982.247-25" },
        "529.982.247-25",
        { type: "cnpj", value: "529.982.247-25" },
      ),
    ],
  ];
  test.each(cases)("%s", async (_, kind, body) => {
    const key = await server.signUp();
    const batch = await server.call(`/v1/${kind}/batch`, { key, body, headers: NDJSON });
    const { count, summary } = await jsonOf<{
      count: number;
      summary: { duplicates: number; units_charged: number };
    }>(batch);
    const { counts, units_charged } = await ended(key, body, `?kind=${kind}`);
    expect({ ...counts, units_charged }).toMatchObject({
      ...{ rows: count, processed: count, duplicates: summary.duplicates },
      units_charged: summary.units_charged,
    });
  });

  test("documents of a JSON body that states their kind after them", async () => {
    const key = await server.signUp();
    const document = (type: string) => ({ type, value: "529.982.247-25" });
    const items = ["cpf", "cpf", "cnpj", "cnpj", "cpf"].map(document);
    const made = await server.call("/v1/jobs", { key, body: { items, kind: "identity" } });
    expect(made.status).toBe(202);
    expect(await jsonOf<Job>(made)).toMatchObject({ counts: { rows: 5, distinct: 2, duplicates: 3 } });
  });
});

describe("a CSV whose first line is longer than the start in which its form is detected", () => {
  const long = "x".repeat(400_000);
  test.each([
    ["with a header", `note,email${long}\n1,a@good.com\n2,b@good.com\n`, "?column=2"],
    ["without one", `${long},a@good.com\n2,b@good.com\n`, "?column=2"],
    ["with quotes", `"${long}",a@good.com\n2,b@good.com\n`, "?column=2"],
  ])("%s is read row by row", async (_, body, query) => {
    const key = await server.signUp();
    const job = await ended(key, body, query, { "Content-Type": "text/csv" });
    expect(job).toMatchObject({ status: "completed", counts: { rows: 2, distinct: 2 }, units_charged: 2 });
    const csv = await (await server.call(`${job.results_url}?format=csv`, { key })).text();
    expect(csv.split("\n").map((line) => line.split(",")[1]?.slice(0, 10))).toEqual(
      expect.arrayContaining(["a@good.com", "b@good.com"]),
    );
    // The header and two rows, each with its own columns.
    expect(csv.split("\n")).toHaveLength(4);
  });
});
