import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { startTestServer } from "../support/server.ts";
import { openCommandRoom, parsedLines } from "./command.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

const [room, server] = await Promise.all([openCommandRoom(), startTestServer()]);
afterAll(() => Promise.all([server[Symbol.asyncDispose](), room[Symbol.asyncDispose]()]));

const emails = Array.from({ length: 6000 }, (_, i) => `user${i}@d${i % 50}.many.com`);
const unitsOf = async (apiKey: string) =>
  (await createClient({ baseUrl: server.url, apiKey }).account()).usage.units;

describe("against a server", () => {
  test("the results are those of this process, and every item is charged once", async () => {
    const apiKey = await server.signUp();
    const stdin = `${emails.slice(0, 1200).join("\n")}\ninfo@good.com\nnope\n`;
    const options = { stdin, env: { ASSAY_API_KEY: apiKey } };
    const there = await room.run(["-", "--server", server.url, "--format", "ndjson"], options);
    const here = await room.run(["-", "--format", "ndjson"], options);
    expect(there.exitCode).toBe(0);
    expect(there.stdout).toBe(here.stdout);
    expect(there.stderr).toContain("1,202 units charged");
    expect(here.stderr).not.toContain("charged");
    expect(await unitsOf(apiKey)).toBe(1202);
  });

  test("documents, phones, options and single items", async () => {
    const env = { ASSAY_API_KEY: await server.signUp() };
    const ask = async (stdin: string, ...args: string[]) =>
      parsedLines(
        (await room.run([...args, "--server", server.url, "--format", "ndjson", "-q"], { stdin, env }))
          .stdout,
      );
    expect(await ask("111.111.111-11", "documents", "-", "--type", "cpf")).toMatchObject([
      { reason: "component" },
    ]);
    expect(await ask("978-3-16-148410-0", "documents", "-")).toMatchObject([{ detected: "isbn" }]);
    expect(await ask("11 98765-4321", "phones", "-", "--country", "BR")).toMatchObject([{ valid: true }]);
    expect(await ask("ann@good.com", "-", "--deep")).toMatchObject([
      { reasons: expect.arrayContaining(["dmarc_reject"]) },
    ]);
    const one = await room.run(["email", "ann@good.com", "--no-dns", "--json", "--server", server.url], {
      env,
    });
    expect(JSON.parse(one.stdout)).toMatchObject({ sub_status: "dns_not_checked" });
  });

  test("small plans get small batches, and a used-up plan stops with what was paid for", async () => {
    const env = { ASSAY_API_KEY: await server.signUp("free") };
    await room.write("free.txt", emails.slice(0, 1150).join("\n"));
    const args = ["free.txt", "-q", "--server", server.url, "-o", "free-out.csv"];
    const { exitCode, stderr } = await room.run([...args, "--partial"], { env });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(
      /refused \(402 quota_exceeded\): .* The results of 1,000 rows are in free-out\.csv/,
    );
    const client = createClient({ baseUrl: server.url, apiKey: env.ASSAY_API_KEY });
    await client.changePlan({ plan: "growth" });
    expect((await room.run([...args, "--resume"], { env })).exitCode).toBe(0);
    const rows = (await room.read("free-out.csv")).trimEnd().split("\n").slice(1);
    expect(rows.map((row) => row.split(",")[0])).toEqual(emails.slice(0, 1150));
    expect(await unitsOf(env.ASSAY_API_KEY)).toBe(1150);
  });

  test("the cost and the units left are shown first, and a file that costs more than is left is refused", async () => {
    const env = { ASSAY_API_KEY: await server.signUp("free") };
    const distinct = emails.slice(0, 600);
    await room.write("dear.txt", [...distinct, ...distinct.slice(0, 2)].join("\n"));
    const args = ["dear.txt", "--server", server.url, "-o", "dear-out.csv"];
    const refused = await room.run([...args, "--deep"], { env });
    expect(refused.stderr).toStartWith(
      "dear.txt costs up to 1,204 units. The plan free has 1,000 left. Nothing was sent.",
    );
    expect(refused.stderr).toContain("--partial");
    expect(refused.exitCode).toBe(1);
    expect(await room.exists("dear-out.csv")).toBe(false);
    expect(await unitsOf(env.ASSAY_API_KEY)).toBe(0);

    const ran = await room.run(args, { env });
    expect(ran.exitCode).toBe(0);
    // Batches of the plan free have 100 items, so the repeats at the end are in another one.
    expect(ran.stderr).toStartWith("dear.txt costs up to 602 units. The plan free has 1,000 left.\n");
    expect(await unitsOf(env.ASSAY_API_KEY)).toBe(602);

    const piped = await room.run(["-", "--server", server.url], { env, stdin: "ann@good.com" });
    expect(piped.stderr).toStartWith("The plan free has 398 left.");
  });

  test("units beyond the included ones are shown in money, and a spend limit refuses as a hard stop does", async () => {
    const env = { ASSAY_API_KEY: await server.signUp("starter") };
    const client = createClient({ baseUrl: server.url, apiKey: env.ASSAY_API_KEY });
    const { usage, projected_invoice: invoice } = await client.account();
    // The first month of a plan is a share of it, in units as in money.
    const included = usage.included_units;
    const limit = (usd: number) => (Number(invoice.total_usd) + usd).toFixed(2);
    const words = (units: number) => units.toLocaleString("en");
    // In the last minutes of a month the share is one unit.
    const left = `${words(included)} included ${included === 1 ? "unit" : "units"} left`;
    await room.write(
      "over.txt",
      Array.from({ length: included + 600 }, (_, i) => `user${i}@good.com`).join("\n"),
    );
    await client.changePlan({ plan: "starter", spend_limit_usd: limit(0.15) });
    const args = ["over.txt", "--server", server.url, "-o", "over-out.csv"];
    const refused = await room.run(args, { env });
    expect(refused.stderr).toStartWith(
      `over.txt costs up to ${words(included + 600)} units. The plan starter has ${left}, the spend limit pays for `,
    );
    // To the cent, in which the invoice is rounded.
    const paid = Number(/pays for ([\d,]+)\. Nothing was sent/.exec(refused.stderr)?.[1]?.replace(",", ""));
    expect(paid - included).toBeWithin(90, 111);
    expect(refused.exitCode).toBe(1);
    await client.changePlan({ plan: "starter", spend_limit_usd: limit(10) });
    const ran = await room.run(args, { env });
    expect(ran.stderr).toContain(" The other 600 cost up to 0.90 USD.\n");
    expect(ran.exitCode).toBe(0);
  });

  test("killed and gone on with, no row is charged twice", async () => {
    const env = { ASSAY_API_KEY: await server.signUp() };
    await room.write("kill.txt", emails.join("\n"));
    const args = ["kill.txt", "-q", "--server", server.url, "-o", "kill-out.csv", "--resume"];
    const { child, ended } = room.start(args, { env });
    while (child.exitCode === null && (await unitsOf(env.ASSAY_API_KEY)) < 2000) await Bun.sleep(2);
    child.kill("SIGKILL");
    await ended;
    expect((await room.run(args, { env })).exitCode).toBe(0);
    const rows = (await room.read("kill-out.csv")).trimEnd().split("\n").slice(1);
    expect(rows.map((row) => row.split(",")[0])).toEqual(emails);
    expect(await unitsOf(env.ASSAY_API_KEY)).toBe(emails.length);
  });

  test("a server that goes half-way leaves what was written, and --resume goes on", async () => {
    const env = { ASSAY_API_KEY: await server.signUp() };
    // In front of the real server, so that it can go away after some calls.
    let callsLeft = 7;
    const front = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        callsLeft -= 1;
        if (callsLeft < 0) await front.stop(true);
        return forward(request);
      },
    });
    await room.write("gone.txt", emails.join("\n"));
    const args = ["gone.txt", "-q", "--server", front.url.origin, "--retries", "1", "-o", "gone-out.csv"];
    const { exitCode, stderr } = await room.run(args, { env });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ does not answer\. The results of [\d,]+ rows are in gone-out/,
    );
    const half = await room.read("gone-out.csv");
    expect(half.split("\n").length).toBeGreaterThan(500);

    const back = Bun.serve({ hostname: "127.0.0.1", port: Number(front.url.port), fetch: forward });
    expect((await room.run([...args, "--resume"], { env })).exitCode).toBe(0);
    await back.stop(true);
    const whole = await room.read("gone-out.csv");
    expect(whole).toStartWith(half);
    expect(
      whole
        .trimEnd()
        .split("\n")
        .slice(1)
        .map((row) => row.split(",")[0]),
    ).toEqual(emails);
    expect(await unitsOf(env.ASSAY_API_KEY)).toBe(emails.length);
  });

  test("a wrong key and a server that is not there end at once, with nothing written", async () => {
    await room.write("one.txt", "ann@good.com");
    const wrong = await room.run(["one.txt", "-o", "none.csv", "--server", server.url], {
      env: { ASSAY_API_KEY: "asy_wrong" },
    });
    expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("refused (401 bad_key)") });
    const gone = await room.run(["one.txt", "-o", "none.csv", "--server", "http://127.0.0.1:1"], {
      env: { ASSAY_API_KEY: "asy_wrong" },
    });
    expect(gone).toMatchObject({ exitCode: 1, stderr: "http://127.0.0.1:1 does not answer.\n" });
    expect(await room.exists("none.csv")).toBe(false);
  });
});

async function forward(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  const body = method === "GET" ? {} : { body: await request.text() };
  // Handed on as it came: compressed where the caller asked for it.
  return fetch(server.url + pathname + search, { method, headers, ...body, decompress: false });
}
