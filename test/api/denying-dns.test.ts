import { expect, test } from "bun:test";
import { jsonOf } from "../support/json.ts";
import { startTestServer, TEST_ZONE } from "../support/server.ts";

const ZONE = `$NOPROVIDERS\n${TEST_ZONE.split("\n")
  .filter((line) => !line.startsWith("gmail.com"))
  .join("\n")}`;

type Verdict = { status: string; sub_status: string };

test("a DNS that denies large providers makes nothing undeliverable, charges nothing and refuses no signup", async () => {
  await using server = await startTestServer({ zone: ZONE });
  const signup = await server.call("/v1/signup", { body: { email: "new@missing-company.com" } });
  expect(signup.status).toBe(201);
  const key = await server.signUp();
  for (const email of ["jane@github.com", "jane@gmail.com", "jane@nomail.com"]) {
    const reply = await server.call(`/v1/email/verify?email=${email}`, { key });
    expect(reply.headers.get("x-units-charged")).toBe("0");
    expect(await jsonOf<Verdict>(reply)).toMatchObject({ status: "unknown", sub_status: "dns_error" });
  }
  const honest = await server.call("/v1/email/verify?email=jane@good.com", { key });
  expect(honest.headers.get("x-units-charged")).toBe("1");
  expect(await jsonOf<Verdict>(honest)).toMatchObject({ status: "deliverable" });
});

test("a DNS that denies large providers is in /health and in the log, in one sentence", async () => {
  await using server = await startTestServer({ zone: ZONE });
  const key = await server.signUp();
  await server.call("/v1/email/verify?email=jane@github.com", { key });
  const health = await jsonOf<{ status: string; checks: { dns: object } }>(await server.call("/health"));
  const sentence =
    "The DNS denies that gmail.com exists: nothing that it denies is believed until it finds it. Check DNS_SERVERS.";
  expect(health.status).toBe("degraded");
  expect(health.checks.dns).toMatchObject({ status: "warn", output: sentence });
  expect(server.logged().filter(({ event }) => event === sentence).length).toBe(1);
});

test("a DNS that does not answer at the start is in the log", async () => {
  await using server = await startTestServer({ zone: "", environment: { DNS_SERVERS: "127.0.0.1:1" } });
  await jsonOf(await server.call("/health"));
  const logged = Promise.withResolvers<void>();
  const look = setInterval(() => {
    if (
      server
        .logged()
        .some(({ event }) => event === "The DNS does not answer. Check DNS_SERVERS and the network.")
    )
      logged.resolve();
  }, 20);
  await logged.promise;
  clearInterval(look);
});
