import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../src/platform/clock.ts";
import { until } from "../support/caller.ts";
import { accountOf, jsonOf } from "../support/json.ts";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

type Job = { readonly job_id: string; readonly status: string };
type Result = { readonly row: number; readonly email: string };

const DAY_MS = 86_400_000;

let server: TestServer;
let key: string;
let shiftMs = 0;
beforeAll(async () => {
  server = await startTestServer({ clock: { ...systemClock, now: () => systemClock.now() + shiftMs } });
  key = await server.signUp();
});
afterAll(() => server[Symbol.asyncDispose]());

const jobsOf = async (owner: string) =>
  (await jsonOf<{ data: Job[] }>(await server.call("/v1/jobs", { key: owner }))).data;

function create(
  body: string | Uint8Array,
  headers: { readonly [name: string]: string },
  query = "",
  as = key,
) {
  return server.call(`/v1/jobs${query}`, { key: as, body, headers });
}

async function ended(body: string | Uint8Array, type = "text/plain", query = "", as = key): Promise<Job> {
  const job = await jsonOf<Job>(await create(body, { "Content-Type": type }, query, as));
  await (await server.call(`/v1/jobs/${job.job_id}/events`, { key: as })).text();
  return job;
}

async function resultsOf(job: Job): Promise<Result[]> {
  const reply = await server.call(`/v1/jobs/${job.job_id}/results?format=json`, { key });
  return (await jsonOf<{ results: Result[] }>(reply)).results;
}

describe("a body that is no list stores nothing", () => {
  const TEXT = { "Content-Type": "text/plain" };
  const CSV = { "Content-Type": "text/csv" };
  const JSON_TYPE = { "Content-Type": "application/json" };
  const cases: readonly (readonly [
    what: string,
    body: string | Uint8Array,
    headers: { readonly [name: string]: string },
    query?: string,
    refusal?: string,
  ])[] = [
    [
      "a type that is not one of the four",
      "a@good.com",
      { "Content-Type": "text/html" },
      "",
      "415 unsupported_media_type",
    ],
    [
      "an encoding that is not read",
      "a",
      { ...TEXT, "Content-Encoding": "br" },
      "",
      "415 unsupported_media_type",
    ],
    ["no gzip", "a@good.com", { ...TEXT, "Content-Encoding": "gzip" }],
    [
      "gzip that is cut off",
      gzipSync("a@good.com\n".repeat(1000)).subarray(0, 30),
      { ...TEXT, "Content-Encoding": "gzip" },
    ],
    ["no zstd", "a@good.com", { ...TEXT, "Content-Encoding": "zstd" }],
    ["an encoding that there is not", "a@good.com", CSV, "?encoding=utf-99"],
    ["a charset that there is not", "a@good.com", { "Content-Type": "text/csv; charset=utf-99" }],
    ["text in another charset than is said", "a\u00ff", { "Content-Type": "text/plain; charset=utf-16" }],
    ["text in another encoding than is said", "\u00ff\u00fe", TEXT, "?encoding=utf-16le&kind=none"],
    ["a delimiter of two characters", "a;b", CSV, "?delimiter=;;"],
    ["a quote as the delimiter", "name,email\nA,a@good.com\n", CSV, "?delimiter=%22"],
    ["the end of a line as the delimiter", "name,email\nA,a@good.com\n", CSV, "?delimiter=%0A"],
    ["a CR as the delimiter", "name,email\nA,a@good.com\n", CSV, "?delimiter=%0D"],
    ["a column of a number beyond the last", "email\na@good.com\n", CSV, "?column=9"],
    ["a NUL character", "a\0@good.com,b\n", CSV],
    ["a NUL character in a quoted cell", 'email\n"a\0@good.com"\n', CSV],
    ["a column of the number 0", "email\na@good.com\n", CSV, "?column=0"],
    ["no body", "", TEXT],
    ["a row of more than a megabyte", "a".repeat(1_048_577), TEXT],
    ["a quoted row of more than a megabyte", `email\n"${"a".repeat(1_200_000)}"\n`, CSV],
    ["half of a character", Buffer.from("\ufeffab", "utf16le").subarray(0, 5), TEXT],
    ["items that come twice", '{"items":["a@good.com"],"items":[]}', JSON_TYPE],
    ["items that come again as none", '{"items":["a@good.com"],"items":5}', JSON_TYPE],
    ["items that were none before", '{"items":5,"items":["a@good.com"]}', JSON_TYPE],
    ["an item of more than a megabyte", JSON.stringify({ items: ["a".repeat(1_048_575)] }), JSON_TYPE],
    [
      "a line with an invalid type of document",
      '"1"\n{"type":"passport","value":"1"}\n',
      { "Content-Type": "application/x-ndjson" },
      "?kind=identity",
    ],
    [
      "an item with an invalid type of document",
      '{"kind":"identity","items":["1",{"type":"CPF","value":"1"}]}',
      JSON_TYPE,
    ],
    ["much beside the items", `{"items":[],"x":"${"x".repeat(70_000)}"}`, JSON_TYPE],
    ["an address as an object", '{"items":[{"value":"a@good.com"}]}', JSON_TYPE],
    ["more behind the body", '{"items":["a@good.com"]} x', JSON_TYPE, "", "400 invalid_json"],
    ["an invalid flag", "a@good.com", TEXT, "?deep=maybe"],
    ["an invalid country", "+1", TEXT, "?kind=phone&country=XX1"],
    ["an invalid type of document", "1", TEXT, "?kind=identity&type=passport"],
    ["something else to do without units", "a@good.com", TEXT, "?when_out_of_units=stop"],
    ["a name of 1,000 characters", "a@good.com", TEXT, `?name=${"n".repeat(1000)}`],
  ];
  test.each(cases)("%s", async (_, body, headers, query = "", refusal = "400 invalid_request") => {
    const own = await server.signUp();
    expect(await refusalOf(await create(body, headers, query, own))).toBe(refusal);
    expect(await jobsOf(own)).toEqual([]);
  });

  test("what is no text, or text that does not say that it is UTF-16, is named", async () => {
    const own = await server.signUp();
    const messageOf = async (body: string | Uint8Array) => await (await create(body, CSV, "", own)).text();
    const packed = await messageOf(gzipSync("email\na@good.com\n"));
    expect(packed).toContain(
      "The body is not text but gzip: unpack it first, or send it with Content-Encoding: gzip.",
    );
    expect(await messageOf(Buffer.from("504b030414000600", "hex"))).toContain("save the sheet as CSV");
    const unmarked = await messageOf(Buffer.from("email\na@good.com\n", "utf16le"));
    expect(unmarked).toContain("name it with encoding=utf-16le.");
  });

  test("the refusal of an unknown charset names it, and JSON has none", async () => {
    const headers = { "Content-Type": "application/x-ndjson; charset=utf-99" };
    const reply = await create('"a@good.com"', headers, "", await server.signUp());
    expect(await reply.text()).toContain("The charset of Content-Type is no known encoding");
    const body = JSON.stringify({ items: ["jané@good.com"] });
    const [row] = await resultsOf(await ended(body, "application/json; charset=iso-8859-1"));
    expect(row?.email).toBe("jané@good.com");
  });

  test("the refusal of an unknown type of document names its row", async () => {
    const lines = '"1"\n\n{"type":"passport","value":"1"}\n';
    const type = { "Content-Type": "application/x-ndjson" };
    const reply = await create(lines, type, "?kind=identity", await server.signUp());
    expect(await reply.text()).toContain("Row 2 (line 3): type must be one of cpf, cnpj,");
  });

  test("one that ends before its Content-Length", async () => {
    const own = await server.signUp();
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const head = [
      "POST /v1/jobs HTTP/1.1",
      `Host: ${hostname}`,
      `Authorization: Bearer ${own}`,
      "Content-Type: text/plain",
      "Content-Length: 1000000",
    ];
    const closed = new Promise((resolve) => socket.once("close", resolve).on("error", () => undefined));
    socket.resume();
    socket.write(`${head.join("\r\n")}\r\n\r\n${"a@good.com\n".repeat(10)}`);
    await until("job that is received", async () => (await jobsOf(own)).length === 1);
    socket.destroy();
    await closed;
    await until("end of the job", async () => (await jobsOf(own)).length === 0);
  });
});

describe("a byte order mark is no part of the first row", () => {
  const text = "email\njané@good.com\nbob@good.com\n";
  const cases: readonly (readonly [what: string, bytes: Uint8Array, query: string, charset?: string])[] = [
    ["UTF-8", Buffer.from(`\ufeff${text}`), ""],
    ["UTF-16, little-endian", Buffer.from(`\ufeff${text}`, "utf16le"), ""],
    ["UTF-16, big-endian", Buffer.from(`\ufeff${text}`, "utf16le").swap16(), ""],
    ["UTF-8, which is said too", Buffer.from(`\ufeff${text}`), "?encoding=utf-8"],
    ["none, but the encoding is said", Buffer.from(text, "latin1"), "?encoding=windows-1252"],
    ["none, but the charset is said", Buffer.from(text, "latin1"), "", "; charset=windows-1252"],
    ["none, but the charset is said in quotes", Buffer.from(text, "latin1"), "", ';a=b;Charset="ISO-8859-1"'],
    [
      "none, and the encoding goes before the charset",
      Buffer.from(text),
      "?encoding=utf-8",
      ";charset=koi8-r",
    ],
    ["UTF-16, which is said for UTF-8", Buffer.from(`\ufeff${text}`, "utf16le"), "", "; charset=utf-8"],
    ["UTF-16, big-endian, said", Buffer.from(`\ufeff${text}`, "utf16le").swap16(), "", "; charset=UTF-16"],
  ];
  test.each(cases)("%s", async (_, bytes, query, charset = "") => {
    for (const type of ["text/csv", "text/plain"]) {
      const rows = await resultsOf(await ended(new Uint8Array(bytes), type + charset, query));
      const emails = rows.map(({ email }) => email);
      expect([type, emails]).toEqual([
        type,
        ["jané@good.com", "bob@good.com"].toSpliced(0, 0, ...(type === "text/csv" ? [] : ["email"])),
      ]);
    }
  });
});

describe("a job", () => {
  const CALLS: readonly (readonly [string, string])[] = [
    ["GET", ""],
    ["GET", "/events"],
    ["GET", "/results"],
    ["POST", "/pause"],
    ["POST", "/resume"],
    ["POST", "/cancel"],
    ["POST", "/start"],
    ["DELETE", ""],
  ];

  test("is its account's alone, and needs a key", async () => {
    const { job_id: jobId } = await ended("a@good.com\n");
    const other = await server.signUp();
    for (const [method, path] of CALLS) {
      const call = (as: string) => server.call(`/v1/jobs/${jobId}${path}`, { key: as, method });
      expect([path, await refusalOf(await call(other))]).toEqual([path, "404 not_found"]);
      expect([path, await refusalOf(await call(""))]).toEqual([path, "401 missing_key"]);
    }
    expect(await refusalOf(await server.call(`/v1/jobs?starting_after=${jobId}`, { key: other }))).toBe(
      "400 invalid_request",
    );
  });

  test("that an account does not have counts as no call of it", async () => {
    const other = await server.signUp();
    for (const [method, path] of CALLS) {
      const reply = await server.call(`/v1/jobs/job_none${path}`, { key: other, method });
      expect([path, reply.status]).toEqual([path, 404]);
    }
    const { usage } = await accountOf(await server.call("/v1/account", { key: other }));
    expect(usage.calls).toBe(0);
  });

  test("that has ended cannot be paused, resumed or cancelled", async () => {
    const { job_id: jobId } = await ended("a@good.com\n");
    for (const verb of ["pause", "resume", "cancel"]) {
      const reply = await server.call(`/v1/jobs/${jobId}/${verb}`, { key, method: "POST" });
      expect([verb, await refusalOf(reply)]).toEqual([verb, "409 job_finished"]);
    }
  });

  test("has results in three formats, filtered by the statuses of its kind alone", async () => {
    const { job_id: jobId } = await ended("+5511987654321\n", "text/plain", "?kind=phone");
    for (const query of ["format=xml", "status=deliverable", "only=good", "sub_status=disposable"]) {
      const reply = await server.call(`/v1/jobs/${jobId}/results?${query}`, { key });
      expect([query, await refusalOf(reply)]).toEqual([query, "400 invalid_request"]);
    }
  });

  test("has results whose refusals name the invalid parameter", async () => {
    const { job_id: jobId } = await ended("a@good.com\n");
    for (const name of ["status", "sub_status", "only"]) {
      for (const words of ["good", "accepts_mail,good", "deliverable,good"]) {
        const reply = await server.call(`/v1/jobs/${jobId}/results?${name}=${words}`, { key });
        const { error } = await jsonOf<{ error: { code: string; message: string } }>(reply);
        expect([name, words, reply.status, error.code]).toEqual([name, words, 400, "invalid_request"]);
        expect(error.message).toStartWith(`${name} must be one or more of `);
      }
    }
  });

  test("that is not received yet checks the filters of its results, too", async () => {
    const own = await server.signUp();
    const upload = { key: own, method: "POST" };
    const { job_id: jobId } = await jsonOf<Job>(await server.call("/v1/jobs?upload=parts", upload));
    const results = (query: string) => server.call(`/v1/jobs/${jobId}/results${query}`, { key: own });
    expect(await refusalOf(await results("?status=good"))).toBe("400 invalid_request");
    expect(await refusalOf(await results(""))).toBe("409 job_not_ready");
  });

  test("is listed only by valid states and pages", async () => {
    for (const query of ["status=done", "limit=0", "limit=101", "limit=x", "starting_after=job_none"]) {
      const reply = await server.call(`/v1/jobs?${query}`, { key });
      expect([query, await refusalOf(reply)]).toEqual([query, "400 invalid_request"]);
    }
  });

  test("keeps its counts past its retention; its results are 410", async () => {
    const { job_id: jobId } = await ended("a@good.com\nb@good.com\n");
    shiftMs += 7 * DAY_MS - 60_000;
    expect((await server.call(`/v1/jobs/${jobId}/results`, { key })).status).toBe(200);
    shiftMs += 120_000;
    const results = async () => server.call(`/v1/jobs/${jobId}/results`, { key });
    await until("end of the retention", async () => (await results()).status === 410, 45_000);
    expect(await refusalOf(await results())).toBe("410 gone");
    expect(await jsonOf<object>(await server.call(`/v1/jobs/${jobId}`, { key }))).toMatchObject({
      status: "completed",
      units_charged: 2,
    });
  });

  test("of a test key has at most 1,000 rows", async () => {
    const made = await server.call("/v1/account/keys", { key, body: { mode: "test" } });
    const { api_key: testKey } = await jsonOf<{ api_key: string }>(made);
    const reply = await create("a@good.com\n".repeat(1_001), { "Content-Type": "text/plain" }, "", testKey);
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining("1001")]);
  });
});
