import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { parse } from "csv-parse/sync";
import { type CommandRoom, openCommandRoom, parsedLines } from "./command.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

let room: CommandRoom;
beforeAll(async () => {
  room = await openCommandRoom();
});
afterAll(() => room[Symbol.asyncDispose]());

type Record = { readonly [column: string]: string };
const recordsOf = (text: string, delimiter = ","): Record[] => parse(text, { columns: true, delimiter });

describe("CSV", () => {
  test("keeps the original columns and rows, and adds ours", async () => {
    const cells =
      'Ann,"ann@good.com","said ""hi"", left\nand came back"\nBob,bob@null.com,\n"Cy, jr.",nope,x\n';
    await room.write("people.csv", `name,email,note\n${cells}`);
    const { exitCode, stderr } = await room.run(["people.csv", "-o", "people-out.csv"]);
    expect(exitCode).toBe(0);
    const records = recordsOf(await room.read("people-out.csv"));
    expect(records.map(({ name, email, note }) => [name, email, note])).toEqual([
      ["Ann", "ann@good.com", 'said "hi", left\nand came back'],
      ["Bob", "bob@null.com", ""],
      ["Cy, jr.", "nope", "x"],
    ]);
    expect(records.map(({ status, sub_status }) => `${status} ${sub_status}`)).toEqual([
      "deliverable accepts_mail",
      "undeliverable null_mx",
      "undeliverable invalid_syntax",
    ]);
    expect(records[0]).toMatchObject({ has_mx: "true", mx_hosts: "mx.good.com", did_you_mean: "" });
    expect(stderr).toContain("3 rows written to people-out.csv");
    expect(await room.exists("people-out.csv.resume")).toBe(false);
  });

  test("reads what spreadsheets write: semicolons, a byte order mark, CR LF, ragged rows", async () => {
    await room.write(
      "sheet.csv",
      "\ufeffName;E-Mail\r\nAnn;ann@good.com\r\n\r\nBob\r\nCy;cy@good.com;extra\r\n",
    );
    const { stdout } = await room.run(["sheet.csv", "-q"]);
    // `Response.text` leaves the byte order mark out.
    const lines = stdout.split("\r\n");
    expect(lines.length).toBe(5);
    expect(lines[0]).toStartWith("Name;E-Mail;status;");
    expect(lines[1]).toStartWith("Ann;ann@good.com;deliverable;");
    expect(lines[2]).toStartWith("Bob;;undeliverable;invalid_syntax;");
    expect(lines[3]).toMatch(/^Cy;cy@good\.com;deliverable;.*;extra$/);
  });

  test("reads UTF-16 by its mark and other encodings by name", async () => {
    const text = "name,email\nJosé,ann@good.com\n";
    await room.write("utf16.csv", Buffer.from(`\ufeff${text}`, "utf16le"));
    await room.write("latin1.csv", Buffer.from(text, "latin1"));
    for (const args of [["utf16.csv"], ["latin1.csv", "--encoding", "windows-1252"]]) {
      const { stdout, exitCode } = await room.run([...args, "-q", "--format", "ndjson"]);
      expect(exitCode).toBe(0);
      expect(parsedLines(stdout)).toMatchObject([{ input: { name: "José" }, status: "deliverable" }]);
    }
  });

  test("is written as it was read: byte order mark, line ends, UTF-16 and tabs", async () => {
    const bytesOf = async (input: string, content: Uint8Array, output: string) => {
      await room.write(input, content);
      expect((await room.run([input, "-q", "-o", output])).exitCode).toBe(0);
      return Buffer.from(await Bun.file(`${room.folder}/${output}`).arrayBuffer());
    };
    const rows = (delimiter: string) => `Name${delimiter}Email\r\nJosé${delimiter}ann@good.com\r\n`;

    const marked = await bytesOf("mark.csv", Buffer.from(`\ufeff${rows(",")}`), "mark-out.csv");
    expect(marked.toString()).toMatch(
      /^\ufeffName,Email,status,.*\r\nJosé,ann@good\.com,deliverable,.*\r\n$/,
    );
    const plain = await bytesOf("plain.csv", Buffer.from(rows(",").replaceAll("\r", "")), "plain-out.csv");
    expect(plain.toString()).toMatch(/^Name,Email,status,.*\nJosé,ann@good\.com,deliverable,.*\n$/);
    expect(plain.includes("\r")).toBe(false);

    // What a spreadsheet saves as "Unicode text".
    const unicode = Buffer.from(`\ufeff${rows("\t")}`, "utf16le");
    for (const output of ["unicode-out.txt", "unicode-out.csv"]) {
      const text = (await bytesOf("unicode.txt", unicode, output)).toString("utf16le");
      expect(text).toMatch(/^\ufeffName\tEmail\tstatus\t.*\r\nJosé\tann@good\.com\tdeliverable\t.*\r\n$/);
    }
    const big = await bytesOf(
      "big.csv",
      Buffer.from(`\ufeff${rows(";")}`, "utf16le").swap16(),
      "big-out.csv",
    );
    expect(big.swap16().toString("utf16le")).toMatch(/^\ufeffName;Email;status;/);

    const resumable = await room.run(["mark.csv", "-q", "--format", "ndjson"]);
    expect(Object.keys(parsedLines(resumable.stdout)[0]?.input ?? {})).toEqual(["Name", "Email"]);
    expect(resumable.stdout).not.toContain("\r");
  });

  test("a first line sep=; names the delimiter, is no row and comes back", async () => {
    await room.write("hint.csv", 'sep=;\r\n"Name, full";Email\r\nA,b,c;ann@good.com\r\n');
    const { stdout, exitCode } = await room.run(["hint.csv", "-q"]);
    expect(exitCode).toBe(0);
    const hint = "sep=;\r\n";
    expect(stdout).toStartWith(`${hint}Name, full;Email;status;`);
    expect(recordsOf(stdout.slice(hint.length), ";")).toMatchObject([
      { "Name, full": "A,b,c", Email: "ann@good.com", status: "deliverable" },
    ]);
    const piped = await room.run(["-", "-q"], { stdin: "sep=|\nName|Email\nAnn|ann@good.com\n" });
    expect(piped.stdout).toStartWith("sep=|\nName|Email|status|");
    const tabbed = "sep=\t\nName\tEmail\nAnn\tann@good.com\n";
    await room.run(["-", "-q", "-o", "hint-out.csv"], { stdin: tabbed });
    expect(await room.read("hint-out.csv")).toStartWith("sep=,\nName,Email,status,");
  });

  test("a first line longer than what is read at once is a line like the others", async () => {
    const note = "x".repeat(400_000);
    await room.write("long.csv", `ann@good.com,${note}\nbob@null.com,y\nnope,z\n`);
    const { stdout, exitCode } = await room.run(["long.csv", "-q", "--column", "1"]);
    expect(exitCode).toBe(0);
    const records = recordsOf(stdout);
    expect(records.map(({ column_1, status }) => `${column_1} ${status}`)).toEqual([
      "ann@good.com deliverable",
      "bob@null.com undeliverable",
      "nope undeliverable",
    ]);
    expect(records[0]?.column_2).toBe(note);
  });

  test("lines that end with LF in a file of CR LF are rows of their own", async () => {
    await room.write("mixed.csv", "Name,Email\r\nAnn,ann@good.com\nBob,bob@null.com\r\nCy,nope\n");
    const { stdout } = await room.run(["mixed.csv", "-q"]);
    expect(recordsOf(stdout).map(({ Name }) => Name)).toEqual(["Ann", "Bob", "Cy"]);
  });

  test("headers that repeat lose no cell in NDJSON", async () => {
    await room.write(
      "twice.csv",
      "note,email,note,,note_2,note\na,ann@good.com,b,c,d,e\nf,bob@good.com,g,h,i,j,k\n",
    );
    const { stdout } = await room.run(["twice.csv", "-q", "--format", "ndjson"]);
    expect(parsedLines(stdout).map(({ input }) => input)).toEqual([
      { note: "a", email: "ann@good.com", note_3: "b", column_4: "c", note_2: "d", note_4: "e" },
      {
        note: "f",
        email: "bob@good.com",
        note_3: "g",
        column_4: "h",
        note_2: "i",
        note_4: "j",
        column_7: "k",
      },
    ]);
  });

  test("the column taken is named", async () => {
    await room.write("which.csv", "id,Work email\n1,ann@good.com\n");
    const { stderr } = await room.run(["which.csv"]);
    expect(stderr).toStartWith('The addresses of which.csv are in column 2 ("Work email").\n1 row in ');
    expect(stderr).toContain("\n1 row written to ");
    const bare = await room.run(["-"], { stdin: "1,ann@good.com\n2,bob@good.com\n" });
    expect(bare.stderr).toStartWith(
      "The addresses of Standard input are in column 2 (the file has no header).\n",
    );
  });

  test("finds the column by the header's words, by the cells, by name or by number", async () => {
    await room.write("words.csv", "contact,E-mail address\nann@other.example,ann@good.com\n");
    await room.write("cells.csv", "id,who\n1,ann@good.com\n2,bob@good.com\n");
    await room.write("bare.csv", "1,ann@good.com\n2,bob@good.com\n");
    await room.write("two.csv", "old mail,new mail\nann@null.com,ann@good.com\n");
    const statuses = async (...args: string[]) =>
      recordsOf((await room.run([...args, "-q"])).stdout).map(({ status }) => status ?? "");
    expect(await statuses("words.csv", "--header")).toEqual(["deliverable"]);
    expect(await statuses("cells.csv")).toEqual(["deliverable", "deliverable"]);
    expect(await statuses("bare.csv")).toEqual(["deliverable", "deliverable"]);
    expect(await statuses("two.csv", "--column", "New Mail")).toEqual(["deliverable"]);
    expect(await statuses("two.csv", "--column", "1")).toEqual(["undeliverable"]);
  });

  test("a number beyond the last column is the name of the one that has it", async () => {
    await room.write("years.csv", "2023,2024\nann@null.com,ann@good.com\n");
    const statuses = async (column: string) =>
      recordsOf((await room.run(["years.csv", "--column", column, "-q"])).stdout).map(({ status }) => status);
    expect(await statuses("2024")).toEqual(["deliverable"]);
    expect(await statuses("1")).toEqual(["undeliverable"]);
    expect((await room.run(["years.csv", "--column", "2025"])).stderr).toContain("no column 2025");
  });

  test("a file without header gets names for its columns", async () => {
    await room.write("bare.csv", "1,ann@good.com\n");
    const { stdout } = await room.run(["bare.csv", "-q"]);
    expect(stdout).toStartWith("column_1,column_2,status,");
    expect(recordsOf(stdout)).toMatchObject([{ column_1: "1", column_2: "ann@good.com" }]);
  });

  test("a column of ours never hides one of the file", async () => {
    await room.write("clash.csv", "email,Status,score\nann@good.com,new,7\n");
    const { stdout } = await room.run(["clash.csv", "-q"]);
    expect(recordsOf(stdout)).toMatchObject([
      { Status: "new", score: "7", assay_status: "deliverable", assay_score: "95" },
    ]);
  });

  test("the output's name decides its form", async () => {
    await room.write("tabs.tsv", "name\temail\nAnn\tann@good.com\n");
    const firstLine = async (name: string) => {
      expect((await room.run(["tabs.tsv", "-q", "-o", name])).exitCode).toBe(0);
      return (await room.read(name)).split("\n")[0];
    };
    expect(await firstLine("form.csv")).toStartWith("name,email,status,");
    expect(await firstLine("form.tsv")).toStartWith("name\temail\tstatus\t");
    expect(await firstLine("form.ndjson")).toStartWith('{"input":{"name":"Ann",');
  });

  test("becomes NDJSON with the original cells in input", async () => {
    await room.write("people.csv", "name,email\nAnn,ann@good.com\n");
    const { stdout } = await room.run(["people.csv", "-q", "--format", "ndjson"]);
    expect(parsedLines(stdout)).toMatchObject([
      { input: { name: "Ann", email: "ann@good.com" }, email: "ann@good.com", status: "deliverable" },
    ]);
  });
});

describe("text, NDJSON and standard input", () => {
  test("text has an address per line", async () => {
    const stdin = "ann@good.com\r\n\n  \nnope";
    const { stdout, exitCode, stderr } = await room.run(["-"], { stdin });
    expect(recordsOf(stdout).map(({ email, status }) => [email, status])).toEqual([
      ["ann@good.com", "deliverable"],
      ["nope", "undeliverable"],
    ]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("2 rows");
  });

  test("what a name leaves open, the first line decides", async () => {
    const statuses = async (stdin: string) =>
      (await room.run(["-", "-q", "--only", "deliverable"], { stdin })).stdout.match(/accepts_mail/g)?.length;
    expect(await statuses("ann@good.com\nbob@good.com\n")).toBe(2);
    expect(await statuses('"name","email"\nAnn,ann@good.com\n')).toBe(1);
    expect(await statuses("Ann;ann@good.com\nBob;bob@good.com\n")).toBe(2);
    expect(await statuses('{"email":"ann@good.com","id":1}\n"bob@good.com"\n')).toBe(2);
  });

  test("NDJSON gives the very results of the API, and keeps other fields", async () => {
    const stdin = '"ann@good.com"\n{"email":"bob@good.com"}\n{"email":"nope","id":7}\n';
    const { stdout } = await room.run(["-", "-q"], { stdin });
    const lines = parsedLines(stdout);
    expect(lines.map(({ email }) => email)).toEqual(["ann@good.com", "bob@good.com", "nope"]);
    expect(lines[0]).not.toHaveProperty("input");
    expect(lines[1]).not.toHaveProperty("input");
    expect(lines[2]?.input).toEqual({ email: "nope", id: 7 });
    expect(Object.keys(lines[0] ?? {})).toEqual(
      "email status sub_status score normalized has_mx mx_hosts is_disposable is_role is_free_provider gibberish_score did_you_mean reasons".split(
        " ",
      ),
    );
  });

  test("NDJSON objects become CSV with their fields as columns", async () => {
    await room.write("in.ndjson", '{"id":1,"mail":"ann@good.com"}\n{"mail":"nope","id":2,"more":3}\n');
    const { exitCode } = await room.run(["in.ndjson", "-q", "-c", "mail", "-o", "ndjson-out.csv"]);
    expect(exitCode).toBe(0);
    expect(recordsOf(await room.read("ndjson-out.csv"))).toMatchObject([
      { id: "1", mail: "ann@good.com", status: "deliverable" },
      { id: "2", mail: "nope", status: "undeliverable" },
    ]);
  });

  test("a CSV has the item of every line of NDJSON, strings and objects in any order", async () => {
    const csvOf = async (lines: readonly string[], ...args: string[]) => {
      const options = { stdin: `${lines.join("\n")}\n` };
      const { stdout, exitCode } = await room.run(["-", "-q", "--format", "csv", ...args], options);
      expect(exitCode).toBe(0);
      return recordsOf(stdout);
    };
    const lines = ['{"id":1,"mail":"ann@good.com"}', '"bob@good.com"', '{"mail":"cy@good.com"}'];
    expect(await csvOf(lines, "-c", "mail", "--input-format", "ndjson")).toMatchObject([
      { id: "1", mail: "ann@good.com", status: "deliverable" },
      { id: "", mail: "bob@good.com", status: "deliverable" },
      { id: "", mail: "cy@good.com", status: "deliverable" },
    ]);
    expect(await csvOf(['"ann@good.com"', '{"email":"bob@good.com","id":2}'])).toMatchObject([
      { email: "ann@good.com", status: "deliverable" },
      { email: "bob@good.com", status: "deliverable" },
    ]);
  });

  test("fields of NDJSON that a CSV leaves out are named", async () => {
    const saidOf = async (stdin: string, ...args: string[]) =>
      (await room.run(["-", ...args], { stdin })).stderr;
    const later = '{"email":"ann@good.com","id":1}\n{"email":"bob@good.com","no\\nte":1,"more":3,"id":2}\n';
    expect(await saidOf(later, "--format", "csv")).toContain(
      'Standard input has fields that its first line lacks, which the CSV leaves out: "no\\nte", "more". Put a line with all fields first, or write NDJSON.\n',
    );
    const bareFirst = '"ann@good.com"\n{"email":"bob@good.com","id":2}\n';
    expect(await saidOf(bareFirst, "--format", "csv")).toContain('leaves out: "id".');
    const many = Array.from({ length: 30 }, (_, at) => `{"email":"ann@good.com","f${at}":1}\n`).join("");
    expect(await saidOf(many, "--format", "csv")).toContain('"f20" and perhaps more.');
    expect(await saidOf(later, "--format", "ndjson")).not.toContain("leaves out");
    expect(
      await saidOf('{"email":"ann@good.com","id":1}\n"bob@good.com"\n', "--format", "csv"),
    ).not.toContain("leaves out");
    expect(await saidOf(later, "--format", "csv", "-q")).toBe("");
  });

  test("an empty input is an empty output", async () => {
    const { exitCode, stderr } = await room.run(["-"], { stdin: "" });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("0 rows");
    await room.write("empty.csv", "");
    expect((await room.run(["empty.csv", "-q"])).exitCode).toBe(0);
  });
});

describe("what is checked and written", () => {
  const stdin = "ann@good.com\ninfo@good.com\nbob@null.com\n";

  test("--only writes the statuses named, and counts all", async () => {
    const { stdout, stderr } = await room.run(["-", "--only", "risky,undeliverable", "--format", "ndjson"], {
      stdin,
    });
    expect(parsedLines(stdout).map(({ email }) => email)).toEqual(["info@good.com", "bob@null.com"]);
    expect(stderr).toMatch(/deliverable\s+1\s+33\.3%/);
    expect(stderr).toContain("2 rows written");
  });

  test("--deep and --no-dns", async () => {
    const reasons = async (...args: string[]) => {
      const { stdout } = await room.run(["-", "-q", "--format", "ndjson", ...args], {
        stdin: "ann@good.com",
      });
      return parsedLines(stdout)[0]?.reasons;
    };
    expect(await reasons("--deep")).toContain("dmarc_reject");
    expect(await reasons()).not.toContain("dmarc_reject");
    expect(await reasons("--no-dns")).toContain("dns_not_checked");
  });

  test("items that could not be checked are reported, and are exit code 2", async () => {
    const { exitCode, stderr } = await room.run(["-"], { stdin: "ann@good.com\nbob@servfail.com\n" });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("1 could not be checked (dns_error 1): try it again later");
  });

  test("--quiet says nothing", async () => {
    const { stderr } = await room.run(["-", "--quiet"], { stdin });
    expect(stderr).toBe("");
  });

  test("results come in the order of the input, whatever finishes first", async () => {
    const emails = Array.from({ length: 4321 }, (_, i) => `user${i}@d${i % 700}.many.com`);
    const { stdout } = await room.run(["-", "-q", "--format", "ndjson"], { stdin: emails.join("\n") });
    expect(parsedLines(stdout).map(({ email }) => email)).toEqual(emails);
  });
});

describe("documents and phones", () => {
  test("documents of one type, and detected ones", async () => {
    const stdin = "DE89 3704 0044 0532 0130 00\nDE88 3704 0044 0532 0130 00\n";
    const { stdout, stderr } = await room.run(["documents", "-", "--type", "iban"], { stdin });
    expect(recordsOf(stdout).map(({ value, valid, reason }) => [value, valid, reason])).toEqual([
      ["DE89 3704 0044 0532 0130 00", "true", ""],
      ["DE88 3704 0044 0532 0130 00", "false", "checksum"],
    ]);
    expect(stderr).toMatch(/ valid\s+1\s+50\.0%/);
    const found = await room.run(["documents", "-", "-q"], { stdin: "978-3-16-148410-0" });
    expect(recordsOf(found.stdout)).toMatchObject([{ type: "isbn", valid: "true" }]);
  });

  test("a card number is masked in what we write", async () => {
    const { stdout } = await room.run(["documents", "-", "-q", "--type", "card"], {
      stdin: "4242424242424242",
    });
    expect(stdout).toContain("424242******4242");
    expect(stdout).not.toContain("4242424242424242");
  });

  test("phones with the country of national numbers", async () => {
    await room.write("phones.csv", "name,Telefone\nAnn,(11) 98765-4321\nBob,123\n");
    const { stdout } = await room.run(["phones", "phones.csv", "-q", "--country", "BR"]);
    expect(recordsOf(stdout).map(({ name, e164, valid }) => [name, e164, valid])).toEqual([
      ["Ann", "+5511987654321", "true"],
      ["Bob", "", "false"],
    ]);
    const only = await room.run(["phones", "phones.csv", "-q", "--country", "55", "--only", "invalid"]);
    expect(recordsOf(only.stdout).map(({ name }) => name)).toEqual(["Bob"]);
  });
});

describe("single items", () => {
  test("are shown a field per line, or as JSON", async () => {
    const shown = await room.run(["email", "ann@good.com"]);
    expect(shown.stdout).toMatch(/^status +deliverable$/m);
    expect(shown.exitCode).toBe(0);
    const json = await room.run(["phone", "(11) 98765-4321", "--country", "BR", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ e164: "+5511987654321" });
    const document = await room.run(["document", "978-3-16-148410-0", "--json"]);
    expect(JSON.parse(document.stdout)).toMatchObject({ detected: "isbn" });
    expect((await room.run(["email", "ann@servfail.com"])).exitCode).toBe(2);
  });
});

test("--version is the version of the package", async () => {
  expect(await room.run(["--version"])).toEqual({ exitCode: 0, stdout: "assay 1.0.0\n", stderr: "" });
});

test("help names every exit code", async () => {
  const { stdout, exitCode } = await room.run(["--help"]);
  expect(exitCode).toBe(0);
  for (const code of [0, 1, 2, 3, 130]) expect(stdout).toMatch(new RegExp(`^  ${code} `, "m"));
});
