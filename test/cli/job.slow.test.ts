import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { until } from "../support/caller.ts";
import { startTestServer, TEST_ZONE } from "../support/server.ts";
import { openCommandRoom, type Ran } from "./command.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

const [room, server] = await Promise.all([openCommandRoom(), startTestServer()]);
afterAll(() => Promise.all([server[Symbol.asyncDispose](), room[Symbol.asyncDispose]()]));

const emails = Array.from({ length: 1_300 }, (_, i) => `user${i % 1_200}@d${i % 7}.many.com`);
const jobArgs = () => ["--server", server.url, "--job"];
const clientOf = (apiKey: string) => createClient({ baseUrl: server.url, apiKey });
const jobOf = (stderr: string) => /job_[0-9a-f]+/.exec(stderr)?.[0] ?? "";

describe("a file as a job", () => {
  const marked = Buffer.concat([
    Buffer.from([0xef, 0xbb, 0xbf]),
    Buffer.from(`name;E-Mail;note\r\n${emails.map((email, i) => `"Ann; ${i}";${email};é`).join("\r\n")}\r\n`),
  ]);
  test.each([
    ["a table of its own form", "people.csv", marked, ["-o", "OUT.csv"]],
    [
      "lines, some results",
      "list.txt",
      `ann@good.com\n\nnope\n"q"@good.com`,
      ["-o", "OUT.csv", "--only", "undeliverable"],
    ],
    [
      "objects, without the DNS",
      "list.ndjson",
      emails.map((email) => `{"email":"${email}","n":1}`).join("\n"),
      ["-o", "OUT.ndjson", "--no-dns"],
    ],
  ])("%s: the output is the one of a run in this process, byte for byte", async (_, name, content, args) => {
    const env = { ASSAY_API_KEY: await server.signUp() };
    await room.write(name, content);
    const named = (prefix: string) => args.map((arg) => arg.replace("OUT", `${prefix}-${name}`));
    const there = await room.run([name, ...named("there"), ...jobArgs()], { env });
    expect([there.exitCode, there.stderr]).toEqual([0, expect.stringContaining("units charged")]);
    const here = await room.run([name, ...named("here"), "-q"]);
    expect(here.exitCode).toBe(0);
    const [outThere = "", outHere = ""] = [named("there")[1], named("here")[1]];
    expect(await room.read(outThere)).toBe(await room.read(outHere));
    expect(await room.exists(`${outThere}.job`)).toBe(false);
    expect(await room.exists(`${outThere}.resume`)).toBe(false);
  });

  test("documents and phones, to standard output", async () => {
    const env = { ASSAY_API_KEY: await server.signUp() };
    await room.write("documents.txt", "111.111.111-11\n978-3-16-148410-0\n4111 1111 1111 1111");
    await room.write("phones.txt", "11 98765-4321\nnope");
    for (const command of [
      ["documents", "documents.txt"],
      ["phones", "phones.txt", "--country", "BR"],
    ]) {
      const there = await room.run([...command, "-q", ...jobArgs()], { env });
      const here = await room.run([...command, "-q"]);
      expect([there.exitCode, there.stdout]).toEqual([0, here.stdout]);
    }
  });

  test("interrupted it says how to come back, and the job that it began ends in the same output", async () => {
    const apiKey = await server.signUp("free");
    const env = { ASSAY_API_KEY: apiKey };
    const client = clientOf(apiKey);
    await room.write("long.csv", `email\n${emails.slice(0, 990).join("\n")}\n`);
    await client.verifyEmails(emails.slice(0, 60), { dns: false });
    const args = ["long.csv", "-o", "long-out.csv", ...jobArgs(), "--partial"];
    const ran = await room.run(args, { env });
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain("The job is paused after 940 of 990 rows");
    const jobId = jobOf(ran.stderr);
    expect(ran.stderr).not.toContain("The job goes on;");
    expect(ran.stderr).toContain(
      `bun run verify long.csv --server ${server.url} --attach ${jobId} --output long-out.csv`,
    );
    const again = await room.run(args, { env });
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("use --resume to go on")]);
    // Without units it is paused again before anything is seen of it.
    for (const back of [
      [...args, "--resume"],
      ["long.csv", "--server", server.url, "--attach", jobId],
    ]) {
      const still = await room.run(back, { env });
      const paused = expect.stringContaining("The job is paused after 940 of 990 rows");
      expect([still.exitCode, still.stderr]).toEqual([3, paused]);
    }
    await client.changePlan({ plan: "starter" });
    const resumed = await room.run([...args, "--resume"], { env });
    expect(resumed.exitCode).toBe(0);
    const rows = (await room.read("long-out.csv")).trimEnd().split("\n").slice(1);
    expect(rows.map((row) => row.split(",")[0])).toEqual(emails.slice(0, 990));
    expect((await client.jobs()).data.map(({ job_id }) => job_id)).toEqual([jobId]);
  });

  test("ctrl-C leaves the job running and says how to come back; --attach does", async () => {
    await using slow = await startTestServer({ zone: `${TEST_ZONE}\n*.slow.com !silent` });
    const apiKey = await slow.signUp();
    const env = { ASSAY_API_KEY: apiKey };
    const client = createClient({ baseUrl: slow.url, apiKey });
    await room.write("left.txt", "ann@good.com\nbob@a.slow.com");
    const { child, ended } = room.start(["left.txt", "--server", slow.url, "--job"], { env });
    const running = async () => (await client.jobs({ status: "running" })).data[0];
    let job = await running();
    while (job === undefined) job = await running();
    child.kill("SIGINT");
    const { exitCode, stdout, stderr } = await ended;
    expect([exitCode, stdout]).toEqual([130, ""]);
    expect(stderr).toContain(`bun run verify left.txt --server ${slow.url} --attach ${job.job_id}`);
    const back = await room.run(["left.txt", "-q", "--server", slow.url, "--attach", job.job_id], { env });
    expect(back.exitCode).toBe(2);
    expect(back.stdout).toContain("bob@a.slow.com,unknown,dns_timeout");
  });

  test("an upload that was cut off goes on with the parts that are missing", async () => {
    const apiKey = await server.signUp();
    const env = { ASSAY_API_KEY: apiKey };
    const client = clientOf(apiKey);
    const text = emails.join("\n");
    await room.write("cut.txt", text);
    const { job_id: jobId } = await client.createUpload("application/x-ndjson", { dns: false });
    const task = JSON.stringify({ kind: "email", deep: false, dns: false });
    const state = { version: 1, jobId, server: server.url, task, parts: [] };
    await room.write("cut-out.csv.job", JSON.stringify(state));
    const args = ["cut.txt", "--no-dns", "-o", "cut-out.csv", ...jobArgs(), "--resume"];
    const ran = await room.run(args, { env });
    expect(ran.exitCode).toBe(0);
    expect((await client.job(jobId)).counts).toMatchObject({ rows: 1_300 });
    await room.write("cut-out.csv.job", JSON.stringify({ ...state, parts: ["of another file"] }));
    const { job_id: other } = await client.createUpload("application/x-ndjson", { dns: false });
    await room.write("other.csv.job", JSON.stringify({ ...state, jobId: other, parts: ["of another file"] }));
    const wrong = await room.run(["cut.txt", "--no-dns", "-o", "other.csv", ...jobArgs(), "--resume"], {
      env,
    });
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      1,
      expect.stringContaining("not the one that the upload was begun with"),
    ]);
  });

  test("begun anew with --force, a half-sent upload is dropped, and a job that was started is not", async () => {
    const env = { ASSAY_API_KEY: await server.signUp("free") };
    const client = clientOf(env.ASSAY_API_KEY);
    await room.write("anew.txt", "ann@good.com\nbob@good.com");
    const task = JSON.stringify({ kind: "email", deep: false, dns: true });
    const left = async (jobId: string) => {
      const state = { version: 1, jobId, server: server.url, task, parts: [] };
      await room.write("anew.csv.job", JSON.stringify(state));
      return room.run(["anew.txt", "-o", "anew.csv", "-q", "--force", ...jobArgs()], { env });
    };
    const { job_id: halfSent } = await client.createUpload("application/x-ndjson", {});
    // The plan has one job at a time.
    expect(await left(halfSent)).toMatchObject({ exitCode: 0, stderr: "" });
    const [first] = (await client.jobs()).data;
    expect([(await client.jobs()).data.length, first?.status]).toEqual([1, "completed"]);
    expect(await left(first?.job_id ?? "")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await left("job_of_another_account")).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await client.jobs()).data.map(({ job_id }) => job_id)).toContain(first?.job_id ?? "");
  });

  test("the wrong file, kind, job or input is refused in one sentence", async () => {
    const env = { ASSAY_API_KEY: await server.signUp() };
    const client = clientOf(env.ASSAY_API_KEY);
    await room.write("mine.txt", "ann@good.com\nbob@good.com");
    await room.write("shorter.txt", "ann@good.com");
    await room.write("swapped.txt", "bob@good.com\nann@good.com");
    const { job_id: jobId } = await client.createJob({ text: "ann@good.com\nbob@good.com" });
    const refusal = async (args: readonly string[]) => {
      const { exitCode, stderr } = await room.run(args, { env });
      return [exitCode, stderr.trimEnd().split("\n").at(-1)];
    };
    const at = ["--server", server.url];
    const another = [1, expect.stringContaining(`The job ${jobId} is of another file.`)];
    for (const file of ["shorter.txt", "swapped.txt"]) {
      expect(await refusal([file, ...at, "--attach", jobId, "-q"])).toEqual(another);
    }
    expect(await refusal(["phones", "mine.txt", ...at, "--attach", jobId])).toEqual([
      1,
      `The job ${jobId} is one of the kind email.`,
    ]);
    expect(await refusal(["-", ...jobArgs()])).toEqual([1, expect.stringContaining("A job needs a file")]);
    expect(await refusal(["mine.txt", ...at, "--attach", "job_none"])).toEqual([
      1,
      expect.stringContaining("refused (404 not_found)"),
    ]);
    env.ASSAY_API_KEY = "asy_wrong";
    expect(await refusal(["mine.txt", ...jobArgs()])).toEqual([
      1,
      expect.stringContaining("refused (401 bad_key)"),
    ]);
  });

  test("documents and phone numbers in another order are of another file, card numbers that are masked too", async () => {
    const env = { ASSAY_API_KEY: await server.signUp() };
    const client = clientOf(env.ASSAY_API_KEY);
    const lists: readonly (readonly ["identity" | "phone", string, readonly string[]])[] = [
      [
        "identity",
        "documents",
        [
          "111.111.111-11",
          "978-3-16-148410-0",
          "4111 1111 1111 1111",
          "5555-5555-5555-4444",
          "5555555555554444 12/29",
          "nope",
        ],
      ],
      ["phone", "phones", ["+5511987654321", "4111 1111 1111 1111", "card 5555555555554444"]],
    ];
    for (const [kind, command, items] of lists) {
      const { job_id: jobId } = await client.createJob({ rows: items }, { kind });
      const attached = [command, "rows.txt", "-q", "--server", server.url, "--attach", jobId];
      await room.write("rows.txt", items.join("\n"));
      expect(await room.run(attached, { env })).toMatchObject({ exitCode: 0, stderr: "" });
      for (let at = 1; at < items.length; at += 1) {
        const swapped = [...items.slice(0, at - 1), items[at], items[at - 1], ...items.slice(at + 1)];
        await room.write("rows.txt", swapped.join("\n"));
        const { exitCode, stderr } = await room.run(attached, { env });
        expect([exitCode, stderr]).toEqual([
          1,
          expect.stringContaining(`The job ${jobId} is of another file.`),
        ]);
      }
    }
  });

  test("a file that ends where a block of a longer job does is of another file", async () => {
    const env = { ASSAY_API_KEY: await server.signUp() };
    const { job_id: jobId } = await clientOf(env.ASSAY_API_KEY).createJob({ rows: emails }, { dns: false });
    await room.write("first.txt", emails.slice(0, 1_000).join("\n"));
    const { exitCode, stderr } = await room.run(
      ["first.txt", "-q", "-o", "first.csv", "--server", server.url, "--attach", jobId],
      { env },
    );
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`The job ${jobId} is of another file.`)]);
  });

  test("a job goes on with an output that a run of smaller blocks has begun", async () => {
    const env = { ASSAY_API_KEY: await server.signUp("free") };
    const client = clientOf(env.ASSAY_API_KEY);
    const rows = emails.slice(0, 990);
    await client.createJob({ rows: emails.slice(0, 700) }, { dns: false });
    await room.write("blocks.txt", rows.join("\n"));
    const args = ["blocks.txt", "--no-dns", "-q", "-o", "blocks.csv", "--server", server.url];
    const { exitCode } = await room.run([...args, "--partial"], { env });
    expect([exitCode, (await room.read("blocks.csv")).trimEnd().split("\n").length]).toEqual([3, 301]);
    await client.changePlan({ plan: "starter" });
    const { job_id: jobId } = await client.createJob({ rows }, { dns: false });
    expect(await room.run([...args, "--attach", jobId], { env })).toMatchObject({ exitCode: 0, stderr: "" });
    const written = (await room.read("blocks.csv")).trimEnd().split("\n").slice(1);
    expect(written.map((row) => row.split(",")[0])).toEqual(rows);
  });

  test("of job runs that begin on one output at once one has a job, and the others are refused", async () => {
    await using slow = await startTestServer({ zone: `${TEST_ZONE}\n*.slow.com !silent` });
    const env = { ASSAY_API_KEY: await slow.signUp() };
    const client = createClient({ baseUrl: slow.url, apiKey: env.ASSAY_API_KEY });
    await room.write("race.txt", "ann@good.com\nbob@a.slow.com");
    const args = ["race.txt", "-q", "-o", "race.csv", "--server", slow.url, "--job"];
    const runs = Array.from({ length: 3 }, () => room.start(args, { env }));
    const ends: Ran[] = [];
    const ended = runs.map((run) => run.ended.then((ran) => ends.push(ran)));
    await until("the refusals of the others", () => ends.length >= 2, 20_000);
    const sentence = "race.csv is being written by another process: wait for its end, or end it.\n";
    expect(ends).toEqual(Array(2).fill({ exitCode: 1, stdout: "", stderr: sentence }));
    await until("the job", async () => (await client.jobs({ status: "running" })).data.length > 0);
    for (const { child } of runs) child.kill("SIGINT");
    await Promise.all(ended);
    expect((await client.jobs()).data).toHaveLength(1);
    expect(await room.exists("race.csv.resume.lock")).toBe(false);
  });

  test("the way back has the options by which the file is read and the results are written", async () => {
    await using slow = await startTestServer({ zone: `${TEST_ZONE}\n*.slow.com !silent` });
    const env = { ASSAY_API_KEY: await slow.signUp() };
    const client = createClient({ baseUrl: slow.url, apiKey: env.ASSAY_API_KEY });
    // Windows-1252; the first column would be taken.
    await room.write(
      "café list.csv",
      Buffer.from("mail;Work email\nx@good.com;bob@a.slow.com\n\xe9;nope\n", "latin1"),
    );
    const args = [
      "café list.csv",
      "--encoding",
      "windows-1252",
      "--column",
      "Work email",
      "--only",
      "undeliverable",
    ];
    const { child, ended } = room.start(
      [...args, "--format", "ndjson", "--server", slow.url, "--job", "-o", "its out"],
      { env },
    );
    while ((await client.jobs({ status: "running" })).data.length === 0) await Bun.sleep(20);
    child.kill("SIGINT");
    const [, way = ""] =
      /The job goes on; come back with: bun run verify (.*)\n/.exec((await ended).stderr) ?? [];
    const words = [...way.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    const back = await room.run(words, { env });
    expect([
      back.exitCode,
      (await room.read("its out"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).email),
    ]).toEqual([2, ["nope"]]);
  });

  test("a file that cannot be read leaves no job behind, which would keep others from being sent", async () => {
    const env = { ASSAY_API_KEY: await server.signUp("free") };
    const client = clientOf(env.ASSAY_API_KEY);
    await room.write("unclosed.csv", 'email,note\nann@good.com,"never closed\n');
    await room.write("columns.csv", "a,b\n1,2\n");
    for (const file of ["unclosed.csv", "columns.csv"]) {
      const { exitCode } = await room.run([file, "-o", "unread.csv", ...jobArgs()], { env });
      expect([exitCode, (await client.jobs()).data, await room.exists("unread.csv.job")]).toEqual([
        1,
        [],
        false,
      ]);
    }
    // Nor is a name that lists may not have a reason to refuse what is in it.
    await room.write("a\tlist\u202evsc.csv", "email\nann@good.com\n");
    const { exitCode } = await room.run(["a\tlist\u202evsc.csv", "-q", ...jobArgs()], { env });
    expect([exitCode, (await client.jobs()).data.map(({ name }) => name)]).toEqual([0, ["alistvsc.csv"]]);
  });

  test("an output that cannot be written is refused before there is a job", async () => {
    const env = { ASSAY_API_KEY: await server.signUp("free") };
    await room.write("one.csv", "email\nann@good.com\n");
    for (const [output, said] of [
      ["no/such/out.csv", "no/such/out.csv cannot be written: its folder does not exist."],
      ["one.csv/out.csv", "one.csv/out.csv cannot be written: "],
      [".", ". is a folder, not a file."],
      ["one.csv", "one.csv is the input; write the results to another file."],
    ] as const) {
      const { exitCode, stderr } = await room.run(["one.csv", "-o", output, "--force", ...jobArgs()], {
        env,
      });
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(said)]);
      expect((await clientOf(env.ASSAY_API_KEY).jobs()).data).toEqual([]);
    }
    expect(await room.read("one.csv")).toBe("email\nann@good.com\n");
  });

  test("what an account's units do not pay for is kept, and the way back is said", async () => {
    const env = { ASSAY_API_KEY: await server.signUp("free") };
    const client = clientOf(env.ASSAY_API_KEY);
    await client.verifyEmails(emails.slice(0, 60), { dns: false });
    await room.write("dear.txt", emails.slice(0, 990).join("\n"));
    const { exitCode, stderr } = await room.run(["dear.txt", ...jobArgs()], { env });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("refused (402 quota_exceeded)")]);
    expect(stderr).toContain(`Come back with: bun run verify dear.txt --server ${server.url} --attach job_`);
  });
});
