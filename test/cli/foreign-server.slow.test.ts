import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { type CommandRoom, openCommandRoom } from "./command.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

const THREE = "a@good.com\nb@good.com\nc@good.com\n";
let room: CommandRoom;
beforeAll(async () => {
  room = await openCommandRoom();
  await room.write("three.txt", THREE);
});
afterAll(() => room[Symbol.asyncDispose]());

type Answer = (request: Request, path: string) => Response | Promise<Response>;

/** Runs the command, or a part of it, against a server that answers so. */
async function ranAgainst(answer: Answer, args: readonly string[] = [], command: readonly string[] = []) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => answer(request, new URL(request.url).pathname),
  });
  try {
    const url = server.url.origin;
    const env = { ASSAY_API_KEY: "asy_any" };
    const ran = await room.run([...command, "three.txt", "--server", url, "--retries", "0", ...args], {
      env,
    });
    return { ...ran, stderr: ran.stderr.replaceAll(url, "URL") };
  } finally {
    await server.stop(true);
  }
}

const page = () => new Response("<h1>Please sign in</h1>", { headers: { "Content-Type": "text/html" } });

describe("a server that is another one is named as that, in one sentence", () => {
  const answers: readonly (readonly [string, Answer])[] = [
    ["the page of a portal", page],
    ["another JSON", () => Response.json({ hello: "world" })],
    ["null", () => Response.json(null)],
  ];
  test.each(answers)("%s", async (_, answer) => {
    const stderr = "URL is no server of this API: what it answers cannot be read.\n";
    expect(await ranAgainst(answer)).toEqual({ exitCode: 1, stdout: "", stderr });
    expect(await ranAgainst(answer, ["--job"])).toEqual({ exitCode: 3, stdout: "", stderr });
  });
});

const ACCOUNT = {
  plan: "scale",
  limits: { max_batch_size: 1_000 },
  usage: { units: 0, included_units: 1_000, remaining_units: 1_000 },
  spend_limit_usd: null,
  projected_invoice: {},
};

/** A server that is right but for its batches. */
function batches(resultsOf: (emails: readonly string[]) => unknown, unitsCharged: unknown = 3): Answer {
  return async (request, path) => {
    if (path === "/v1/account") return Response.json(ACCOUNT);
    if (path === "/v1/plans") return Response.json({ currency: "USD", plans: [] });
    const { emails } = (await request.json()) as { emails: readonly string[] };
    return Response.json({ count: 3, summary: { units_charged: unitsCharged }, results: resultsOf(emails) });
  };
}

const result = (email: string) => ({ email, status: "deliverable", sub_status: "accepts_mail", reasons: [] });

describe("results that are not those of the items are not written", () => {
  const lies: readonly (readonly [string, (emails: readonly string[]) => unknown])[] = [
    ["in another order", (emails) => emails.toReversed().map(result)],
    ["too few", (emails) => emails.slice(1).map(result)],
    ["none", (emails) => emails.map(() => null)],
    ["no list", () => "nothing"],
  ];
  test.each(lies)("%s", async (_, resultsOf) => {
    const { exitCode, stdout, stderr } = await ranAgainst(batches(resultsOf));
    expect(exitCode).toBe(3);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toEndWith(
      "The server answered with results of other items. Only the header was written to standard output.\n",
    );
  });
});

describe("results that cannot be counted are not written", () => {
  const lies: readonly (readonly [string, Answer])[] = [
    ["a status of no address", batches((emails) => emails.map((it) => ({ ...result(it), status: "fine" })))],
    ["no status", batches((emails) => emails.map((email) => ({ email })))],
    ["units that are no number", batches((emails) => emails.map(result), "many")],
    ["units below zero", batches((emails) => emails.map(result), -3)],
  ];
  test.each(lies)("%s", async (_, answer) => {
    const { exitCode, stdout, stderr } = await ranAgainst(answer);
    expect(exitCode).toBe(3);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toEndWith(
      "URL is no server of this API: what it answers cannot be read. Only the header was written to standard output.\n",
    );
  });
});

test("phone numbers without a verdict are not written", async () => {
  const answer: Answer = async (request, path) => {
    if (path !== "/v1/phone/batch") return batches(() => [])(request, path);
    const { phones } = (await request.json()) as { phones: readonly string[] };
    const results = phones.map((phone) => ({ phone, valid: "yes" }));
    return Response.json({ count: 3, summary: { units_charged: 3 }, results });
  };
  const { exitCode, stdout } = await ranAgainst(answer, [], ["phones"]);
  expect([exitCode, stdout.trimEnd().split("\n").length]).toEqual([3, 1]);
});

test("an input that is replaced by another file while it is read is checked to its end", async () => {
  const { exitCode, stderr } = await ranAgainst(async (request, path) => {
    if (path === "/v1/email/batch") {
      await room.write("new.txt", "d@good.com\n");
      renameSync(join(room.folder, "new.txt"), join(room.folder, "three.txt"));
    }
    return batches((emails) => emails.map(result))(request, path);
  });
  await room.write("three.txt", THREE);
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("was changed")]);
});

test("an input that is changed while it is read is named at the end, which is no success", async () => {
  const { exitCode, stderr } = await ranAgainst(async (request, path) => {
    if (path === "/v1/email/batch") await room.write("three.txt", THREE);
    return batches((emails) => emails.map(result))(request, path);
  });
  expect(stderr).toContain("3 rows written to standard output");
  expect(stderr).toEndWith(
    "three.txt was changed while it was read: rows may be missing, and the last one may be cut. Check it again.\n",
  );
  expect(exitCode).toBe(2);
});

describe("a job whose server goes away", () => {
  const JOB = {
    job_id: "job_1",
    kind: "email",
    status: "running",
    status_reason: null,
    options: { deep: false, dns: true, type: null, country: null },
    counts: { rows: 3, processed: 0 },
    units_charged: 0,
  };

  test("while it runs is said how to come back to", async () => {
    const { exitCode, stderr } = await ranAgainst(
      (_, path) => (path.endsWith("/events") ? new Response(null, { status: 503 }) : Response.json(JOB)),
      ["--job", "-q"],
    );
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(
      /^URL refused \(503 unreadable_reply\): .* Come back with: .* three\.txt --server URL --attach job_1\n$/,
    );
  });

  test("while its results are read is said to break off, in one sentence", async () => {
    const done = { ...JOB, status: "completed" };
    const { exitCode, stderr } = await ranAgainst(
      (_, path) => {
        if (path.endsWith("/events")) return new Response(`id: 1\ndata: ${JSON.stringify(done)}\n\n`);
        return path.endsWith("/results") ? new Response('{"row":1,"email"') : Response.json(done);
      },
      ["--job", "-q"],
    );
    expect(exitCode).toBe(3);
    expect(stderr).toBe(
      "URL breaks its replies off, or does not answer. Only the header was written to standard output.\n",
    );
  });
});

test("a key with a character that no key has is said to have one", async () => {
  for (const key of ["asy_one\nasy_two", "asy_“quoted”", "asy one"]) {
    const { exitCode, stderr } = await room.run(["three.txt", "--server", "http://127.0.0.1:1"], {
      env: { ASSAY_API_KEY: key },
    });
    expect([exitCode, stderr]).toEqual([
      1,
      "ASSAY_API_KEY holds a character that no key has, such as a line end.\n",
    ]);
  }
});
