import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type CommandRoom, openCommandRoom } from "./command.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

let room: CommandRoom;
beforeAll(async () => {
  room = await openCommandRoom();
  await room.write("good.csv", "name,email\nAnn,ann@good.com\n");
  await room.write("kept.csv", "precious\n");
  await room.write("people.json", '[\n  {"email": "ann@good.com"}\n]\n');
  await room.write("object", '{\n  "emails": ["ann@good.com"]\n}\n');
  await room.write("line", '[{"email":"ann@good.com"},{"email":"bob@good.com"}]');
});
afterAll(() => room[Symbol.asyncDispose]());

/** A command that must end with this code and this one sentence, and nothing on standard output. */
async function refused(args: readonly string[], exitCode: number, sentence: string | RegExp) {
  const ran = await room.run(args);
  expect(ran.stderr.trim()).toMatch(sentence);
  expect(ran.stderr.trim().split("\n").length).toBe(1);
  expect(ran.exitCode).toBe(exitCode);
  expect(ran.stdout).toBe("");
}

describe("a wrong command ends in one sentence, before anything is written", () => {
  test.each([
    [["missing.csv"], "missing.csv cannot be read: it does not exist."],
    [["."], ". is a folder, not a file."],
    [["good.csv", "-c", "mail"], 'good.csv has no column "mail": it has 1 name, 2 email.'],
    [["good.csv", "-c", "3"], "good.csv has no column 3: it has 1 name, 2 email."],
    [["good.csv", "-c", "0"], "good.csv has no column 0: it has 1 name, 2 email."],
    [["good.csv", "--only", "bad"], '--only: "bad" is none of deliverable, risky, undeliverable, unknown.'],
    [["good.csv", "-o", "kept.csv"], "kept.csv exists; use --force to overwrite it."],
    [["good.csv", "-o", "kept.csv", "--resume"], /^kept\.csv is not half done/],
    [["good.csv", "-o", "good.csv", "--force"], "good.csv is the input; write the results to another file."],
    [["good.csv", "-o", "."], ". is a folder, not a file."],
    [["good.csv", "-o", "no/such/out.csv"], "no/such/out.csv cannot be written: its folder does not exist."],
    [["good.csv", "-o", "good.csv/out.csv"], "good.csv/out.csv cannot be written: "],
    [["good.csv", "--resume"], "--resume needs --output: standard output cannot be gone on with."],
    [["good.csv", "--resume", "--force"], "--force begins anew and --resume goes on: use one of them."],
    [["good.csv", "--encoding", "klingon"], /^--encoding: "klingon" is no known encoding/],
    [["good.csv", "--server", "ftp://x"], '--server must be an http or https address, not "ftp://x".'],
    [["good.csv", "--server", "http://127.0.0.1:1"], /ASSAY_API_KEY/],
    [["documents", "good.csv", "--type", "passport"], /must be one of cpf, cnpj, iban/],
    [["phones", "good.csv", "--country", "Narnia"], /must be an ISO 3166 code/],
    [["good.csv", "--format", "xml"], /Allowed choices are csv, ndjson/],
    [["people.json"], /^people\.json is one piece of JSON: write an item a line/],
    [["object"], /^object is one piece of JSON/],
    [["line"], /^line is one piece of JSON/],
    [["email", "good.csv"], "good.csv is a file: bun run verify good.csv checks its addresses."],
    [[], "error: missing required argument 'file'"],
  ])("%j", (args, sentence) => refused(args, 1, sentence));

  test("what was there is untouched", async () => {
    expect(await room.read("kept.csv")).toBe("precious\n");
    expect(await room.read("good.csv")).toBe("name,email\nAnn,ann@good.com\n");
  });

  test("settings of the environment are checked too", async () => {
    const { exitCode, stderr } = await room.run(["good.csv"], { env: { WORKER_THREADS: "many" } });
    expect(exitCode).toBe(1);
    expect(stderr).toStartWith("WORKER_THREADS must be a whole number");
  });
});

describe("an input that cannot be read", () => {
  test.each([
    [
      "latin1.txt",
      Buffer.from("josé@good.com\n", "latin1"),
      /^latin1\.txt is not utf-8 text after byte 0; name its/,
    ],
    ["nul.txt", "ann\0@good.com\n", /^nul\.txt is not a text file: it has a NUL character/],
    ["zip.csv", Buffer.from("504b03041400080800", "hex"), /^zip\.csv is not/],
    [
      "book.csv",
      Buffer.from("504b030414000600080000002100", "hex"),
      /^book\.csv is not text but a ZIP archive, as XLSX files are: unpack it, or save the sheet as CSV\.$/,
    ],
    [
      "packed.csv",
      Bun.gzipSync("a@good.com\n"),
      /^packed\.csv is not text but gzip: unpack it first, as gunz/,
    ],
    [
      "unmarked.csv",
      Buffer.from("email\njosé@good.com\n", "utf16le"),
      /^unmarked\.csv is UTF-16 without its byte order mark: name it with --encoding utf-16le\.$/,
    ],
    [
      "quote.csv",
      'email\n"ann@good.com\nbob@good.com\n',
      /^quote\.csv is not CSV: a quote is opened in row 2 and never closed\.$/,
    ],
    [
      "late-quote.csv",
      'sep=,\nname,email\n"An\nn",ann@good.com\n\nBob,"bob@good.com\nCy,cy@good.com\n',
      /^late-quote\.csv is not CSV: a quote is opened in row 5 and never closed\.$/,
    ],
    [
      "swallowing-quote.csv",
      'name,email\n"""Ann""\nSmith",ann@good.com\n"Bob,bob@good.com\nCy,"cy@good.com"\nDan,dan@good.com\n',
      /^swallowing-quote\.csv is not CSV: a quote is opened in row 3 and never closed there\.$/,
    ],
    [
      "many.csv",
      "a,b\nx,y\n",
      /^many\.csv has no column that plainly holds the addresses: say which one does with --column\. It has 1 a, 2 b\./,
    ],
    ["line.ndjson", '"ann@good.com"\nann\n', /^line\.ndjson: line 2 is not valid JSON\./],
    [
      "field.ndjson",
      '{"mail":"x"}\n',
      /^field\.ndjson: line 1 is neither a string nor an object with "email"\./,
    ],
    ["long.txt", "x".repeat(1_400_000), /^long\.txt: line 1 is longer than/],
  ])("%s", async (name, content, sentence) => {
    await room.write(name, content);
    const { exitCode, stderr } = await room.run([name, "-q"]);
    expect(stderr.trim()).toMatch(sentence);
    expect(exitCode).toBe(1);
  });

  test("what came before the fault is written, and stays", async () => {
    const good = Array.from({ length: 40_000 }, (_, i) => `"user${i}@good.com"`);
    await room.write("late.ndjson", `${good.join("\n")}\n{broken\n`);
    const { exitCode, stderr } = await room.run(["late.ndjson", "-q", "-o", "late-out.ndjson"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /line 40001 is not valid JSON\. The results of [\d,]+ rows are in late-out\.ndjson/,
    );
    const kept = (await room.read("late-out.ndjson")).trimEnd().split("\n");
    expect(kept.length).toBeGreaterThan(10_000);
    expect(kept.every((line, i) => JSON.parse(line).email === `user${i}@good.com`)).toBe(true);

    await room.write("late.ndjson", `${good.join("\n")}\n"mended@good.com"\n`);
    const again = await room.run(["late.ndjson", "-q", "-o", "late-out.ndjson", "--resume"]);
    expect(again).toMatchObject({ exitCode: 0, stderr: "" });
    const whole = (await room.read("late-out.ndjson")).trimEnd().split("\n");
    expect(whole.map((line) => JSON.parse(line).email)).toEqual(
      good.map((_, i) => `user${i}@good.com`).concat("mended@good.com"),
    );
  });
});

describe("an output that cannot be written", () => {
  test("a full disk", () =>
    refused(["good.csv", "-q", "-o", "/dev/full"], 3, /the disk is full\. Nothing was written/));

  test("a full disk half-way: whole lines stay, and --resume goes on", async () => {
    const emails = Array.from({ length: 30_000 }, (_, i) => `user${i}@good.com`);
    await room.write("many.txt", emails.join("\n"));
    const args = ["many.txt", "-q", "-o", "many-out.csv"];
    const limited = await room.run(args, { shell: "trap '' XFSZ; ulimit -f 1000" });
    expect(limited.exitCode).toBe(3);
    expect(limited.stderr).toMatch(/cannot be written: it would be larger.*the same command with --resume/);
    const half = await room.read("many-out.csv");
    expect(half.length).toBeGreaterThan(500_000);
    expect(half).toEndWith("\n");
    expect((await room.run([...args, "--resume"])).exitCode).toBe(0);
    const lines = (await room.read("many-out.csv")).trimEnd().split("\n");
    expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(emails);
  });

  test("with --only, the results that were written are counted, not the rows", async () => {
    const lines = Array.from({ length: 40_000 }, (_, i) =>
      JSON.stringify(`user${i}@${i % 10 === 0 ? "null.com" : "good.com"}`),
    );
    await room.write("chosen.ndjson", `${lines.join("\n")}\n{broken\n`);
    const args = ["chosen.ndjson", "-q", "--only", "undeliverable", "-o", "chosen-out.ndjson"];
    const { stderr } = await room.run(args);
    const [, results, rows] =
      /([\d,]+) results of ([\d,]+) rows are in chosen-out\.ndjson/.exec(stderr) ?? [];
    const written = (await room.read("chosen-out.ndjson")).trimEnd().split("\n").length;
    expect(results).toBe(written.toLocaleString("en"));
    expect(Number(rows?.replace(",", ""))).toBe(written * 10);
  });

  test("standard output that ends within a line says so", async () => {
    const emails = Array.from({ length: 5000 }, (_, i) => `user${i}@good.com`);
    await room.write("torn.txt", emails.join("\n"));
    const torn = await room.run(["torn.txt", "-q"], {
      shell: "trap '' XFSZ; ulimit -f 100; exec > torn-out.csv",
    });
    expect(torn.exitCode).toBe(3);
    const rows = /The results of ([\d,]+) rows were written, and a part of the next ones\./.exec(
      torn.stderr,
    )?.[1];
    const whole = (await room.read("torn-out.csv")).split("\n").length - 2;
    const reported = Number(rows?.replace(",", ""));
    expect(reported).toBeGreaterThan(0);
    expect(whole - reported).toBeWithin(0, 500);
  });

  test("a reader that has left", async () => {
    const emails = Array.from({ length: 20_000 }, (_, i) => `user${i}@good.com`);
    const path = await room.write("head.txt", emails.join("\n"));
    const { child, ended } = room.start([path, "-q"], { shell: "exec > >(head -n 1 > head-out.txt); true" });
    const { stderr } = await ended;
    expect(stderr).toBe("");
    expect(child.exitCode).toBe(141);
  });
});
