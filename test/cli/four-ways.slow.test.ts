import { expect, setDefaultTimeout, test } from "bun:test";
import { createRandom, type Random } from "../../bench/random.ts";
import { FAULT_ZONE } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import { startTestServer, TEST_ZONE, type TestServer } from "../support/server.ts";
import { type CommandRoom, openCommandRoom } from "./command.ts";

setDefaultTimeout(600_000);

/** `ADDRESSES=205000 bun test test/cli/four-ways.slow.test.ts` compares more. */
const ADDRESSES = Number(process.env.ADDRESSES ?? 2_000);
const SEED = Number(process.env.SEED ?? 20_261_122);
const BLOCK = 5_000;
const CONNECTIONS = 16;
/** Each of them makes 1,000 calls a second. */
const KEYS = 8;

/** A machine that is busy times nothing out. */
const PATIENT = { DNS_TIMEOUT_MS: "30000", DNS_REQUEST_TIMEOUT_MS: "60000" };
const ZONE = `${FAULT_ZONE}${TEST_ZONE}`;

const PLAIN_LOCALS = ["john.smith", "anna", "mr.", "o'neil+", "jösé", "用户", "sales-"];

// biome-ignore format: a list of words
const LOCALS = ["john.smith", "info", "postmaster", "a", "x".repeat(64), "x".repeat(65), '"a b"', '"a\\"b"', ".a", "a..b", "jösé", "用户", "a+b", "qzxvkj9w", "no-reply", "dev", "a\u0301", "\u202eab", "o'neil", "a,b", "(c)a", ""];
// biome-ignore format: a list of words
const DOMAINS = ["good.com", "gmail.com", "googlemail.com", "gmial.com", "null.com", "nomail.com", "implicit.com", "private.com", "servfail.com", "not-there.com", "mailinator.com", "example.com", "good.con", "localhost", "[127.0.0.1]", "[IPv6:::1]", "bücher.many.com", "xn--bcher-kva.many.com", "good.com.", "-a.com", "a-.com", `${"d".repeat(64)}.com`, "GOOD.Com", "good..com", "test", "1.2.3.4", "good.com\u3002", ""];
const ODD = [...'@."\\ ()<>,;:[]\t\u00a0\u200b\u{1f600}\u0001\u00df\u0130é'];

/** An address of the kinds that people and programs write, most of them near one that is valid. */
function randomAddress({ next, below, pick }: Random): string {
  const local = next() < 0.8 ? `${pick(PLAIN_LOCALS)}${below(10_000)}` : pick(LOCALS);
  const domain = next() < 0.5 ? `d${below(400)}.many.com` : pick(DOMAINS);
  let address = `${local}${next() < 0.97 ? "@" : pick(["", "@@", " @ "])}${domain}`;
  for (let change = next() < 0.2 ? 1 + below(3) : 0; change > 0; change -= 1) {
    const characters = [...address];
    const at = below(characters.length + 1);
    const cut = below(2);
    address = [...characters.slice(0, at), pick(ODD), ...characters.slice(at + cut)].join("");
  }
  return address;
}

/** Distinct, as a batch charges a duplicate once; none is blank, which a list passes over. */
function randomAddresses(random: Random, count: number): readonly string[] {
  const addresses = new Set<string>();
  while (addresses.size < count) {
    const address = randomAddress(random);
    if (address.trim() !== "") addresses.add(address);
  }
  return [...addresses];
}

async function oneByOne(server: TestServer, keys: readonly string[], emails: readonly string[]) {
  const results: string[] = [];
  let next = 0;
  const caller = async (number: number) => {
    for (let at = next++; at < emails.length; at = next++) {
      const key = keys[(at + number) % keys.length] ?? "";
      const reply = await server.call("/v1/email/verify", { key, body: { email: emails[at] } });
      expect(reply.status).toBe(200);
      results[at] = await reply.text();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, number) => caller(number)));
  return results;
}

async function asBatch(server: TestServer, key: string, emails: readonly string[]) {
  const reply = await server.call("/v1/email/batch", { key, body: { emails } });
  const { results } = await jsonOf<{ results: object[] }>(reply);
  return results.map((result) => JSON.stringify(result));
}

async function asLines(server: TestServer, key: string, emails: readonly string[]) {
  const reply = await server.call("/v1/email/batch", {
    key,
    body: emails.map((email) => JSON.stringify(email)).join("\n"),
    headers: { "Content-Type": "application/x-ndjson", Accept: "application/x-ndjson" },
  });
  return (await reply.text()).trimEnd().split("\n").slice(0, -1);
}

async function byCommand(room: CommandRoom, emails: readonly string[]) {
  const stdin = emails.map((email) => JSON.stringify(email)).join("\n");
  const args = ["-", "--input-format", "ndjson", "--format", "ndjson", "-q"];
  const ran = await room.run(args, { stdin, env: PATIENT });
  // Some could not be checked: their domain fails.
  expect([0, 2]).toContain(ran.exitCode ?? -1);
  return ran.stdout.trimEnd().split("\n");
}

test("random addresses have the same verdict as single checks, as a batch, as lines, and on the command line", async () => {
  await using server = await startTestServer({ zone: ZONE, environment: PATIENT });
  await using room = await openCommandRoom(ZONE);
  const keys = await Promise.all(Array.from({ length: KEYS }, () => server.signUp()));
  const [key = ""] = keys;
  const random = createRandom(SEED);
  const verdicts = new Map<string, number>();
  let compared = 0;
  while (compared < ADDRESSES) {
    const emails = randomAddresses(random, Math.min(BLOCK, ADDRESSES - compared));
    const single = await oneByOne(server, keys, emails);
    const others = {
      batch: await asBatch(server, key, emails),
      lines: await asLines(server, key, emails),
      command: await byCommand(room, emails),
    };
    for (const [way, results] of Object.entries(others)) {
      expect([way, results.length]).toEqual([way, emails.length]);
      const at = results.findIndex((result, position) => result !== single[position]);
      expect([way, emails[at], results[at]]).toEqual([way, emails[at], single[at]]);
    }
    for (const text of single) {
      const { sub_status }: { sub_status: string } = JSON.parse(text);
      verdicts.set(sub_status, (verdicts.get(sub_status) ?? 0) + 1);
    }
    compared += emails.length;
  }
  const counts = [...verdicts].toSorted(([, one], [, other]) => other - one);
  process.stdout.write(
    `${compared} addresses (seed ${SEED}) on four ways: ${counts.map((each) => each.join(" ")).join(", ")}\n`,
  );
  expect(verdicts.size).toBeGreaterThan(10);
  expect(verdicts.has("dns_timeout")).toBe(false);
});
