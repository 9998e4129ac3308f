import { describe, expect, test } from "bun:test";
import { ConfigError } from "../../src/app/setting-reader.ts";
import { readConfig } from "../../src/app/settings.ts";
import { DEFAULT_PLANS, plansView } from "../../src/billing/plans.ts";

/** What is wrong with the settings, line by line. */
function problemsOf(environment: { [name: string]: string }, file?: string): string[] {
  try {
    readConfig(environment, 2, () => {
      if (file === undefined) throw new Error("ENOENT");
      return file;
    });
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("settings", () => {
  test("unset or empty ones have their defaults", () => {
    const config = readConfig({ PORT: "", HOST: " " }, 3);
    expect(config).toMatchObject({ port: 3000, host: "127.0.0.1", dataDir: "./data", trustProxy: false });
    expect(config.batch.workerThreads).toBe(3);
    expect(config.plans).toBe(DEFAULT_PLANS);
    expect(config.dns.servers).toEqual([]);
  });

  test("everything that is wrong is reported at once, a sentence each", () => {
    const problems = problemsOf({
      PORT: "99999",
      LOG_LEVEL: "loud",
      TRUST_PROXY: "maybe",
      WORKER_THREADS: "0",
      DNS_SERVERS: "8.8.8.8, dns.example, 1.1.1.1:99999",
      PLANS_FILE: "/nowhere/plans.json",
      DIRECTORY_UPSTREAM: "ftp://directory.example",
      DIRECTORY_SYNC_SECONDS: "-1",
    });
    expect(problems).toEqual([
      'PORT must be a whole number from 0 to 65535, not "99999".',
      'LOG_LEVEL must be one of silent, error, warn, info, debug, not "loud".',
      'TRUST_PROXY must be true or false, not "maybe".',
      "PLANS_FILE: /nowhere/plans.json cannot be read.",
      'DNS_SERVERS must list IP addresses, each with or without a port, not "dns.example".',
      'DNS_SERVERS must list IP addresses, each with or without a port, not "1.1.1.1:99999".',
      'WORKER_THREADS must be a whole number from 1 to 256, not "0".',
      'DIRECTORY_UPSTREAM must be an http or https address, not "ftp://directory.example".',
      'DIRECTORY_SYNC_SECONDS must be a whole number from 1 to 86400, not "-1".',
    ]);
  });

  test.each([
    "user:100%@host/name",
    "user:%ZZ@host/name",
    "user:%FF@host/name",
    "us%er@host/name",
    "user@host/na%me",
  ])("postgres://%s has a % that begins no escape: said without the password", (rest) => {
    const [problem = "", ...others] = problemsOf({ DATABASE_URL: `postgres://${rest}` });
    expect([others.length, problem.includes(rest), problem.endsWith("%40 %3A %2F %3F %23 %25.")]).toEqual([
      0,
      false,
      true,
    ]);
  });

  test("a password of an address may have escapes, of NUL none", () => {
    expect(problemsOf({ DATABASE_URL: "postgres://user:p%40%25%C3%A9@host/name" })).toEqual([]);
    expect(problemsOf({ DATABASE_URL: "postgres://user:p%00@host/name" })).toHaveLength(1);
  });

  test.each([
    "*",
    "https://*.app.example",
    "app.example",
    "https://app.example/",
    "ftp://app.example",
    "https://App.example",
  ])("%s is no origin", (origin) => {
    expect(problemsOf({ CORS_ORIGINS: `https://a.example,${origin}` })).toEqual([
      `CORS_ORIGINS must list origins such as https://app.example, not "${origin}".`,
    ]);
  });

  test("a setting that two parts read is reported once", () => {
    expect(problemsOf({ PUBLIC_URL: "assay.example" })).toEqual([
      'PUBLIC_URL must be an http or https address, not "assay.example".',
    ]);
  });

  test("all bodies together must have room for one", () => {
    expect(problemsOf({ BODIES_BYTES_MAX: "1000000" })).toEqual([
      "BODIES_BYTES_MAX must be at least BODY_BYTES_MAX.",
    ]);
    expect(problemsOf({ BODIES_BYTES_MAX: "1000000", BODY_BYTES_MAX: "1000000" })).toEqual([]);
  });

  test.each(["?", "/?x=1", "#", "/feed?x=1#y"])(
    "a query or a fragment has no place in the upstream's address: %s",
    (tail) => {
      const upstream = `http://directory.example${tail}`;
      expect(problemsOf({ DIRECTORY_UPSTREAM: upstream })).toEqual([
        `DIRECTORY_UPSTREAM must be an address without a query or a fragment, not "${upstream}".`,
      ]);
    },
  );

  test("the upstream's address may have a path and user info", () => {
    const upstream = "https://reader:secret@directory.example/feeds";
    expect(readConfig({ DIRECTORY_UPSTREAM: `${upstream}/` }, 1).directory.upstream).toBe(upstream);
  });

  test("flags are true, false, 1 or 0 in any case", () => {
    for (const [text, flag] of [
      ["TRUE", true],
      ["1", true],
      ["False", false],
      ["0", false],
    ] as const) {
      expect(readConfig({ TRUST_PROXY: text }, 1).trustProxy).toBe(flag);
    }
  });

  test("two sources of the directory are one too many", () => {
    const both = { DIRECTORY_UPSTREAM: "https://directory.example", DIRECTORY_FILE: "listings.ndjson" };
    expect(problemsOf(both)).toEqual(["Set one of DIRECTORY_UPSTREAM and DIRECTORY_FILE, not both."]);
  });
});

describe("PLANS_FILE", () => {
  test("what /v1/plans answers can be put back", () => {
    const text = JSON.stringify(plansView(DEFAULT_PLANS));
    expect(readConfig({ PLANS_FILE: "plans.json" }, 1, () => text).plans).toEqual(DEFAULT_PLANS);
  });

  test("each thing that is wrong in it is a problem beside the others", () => {
    const problems = problemsOf(
      { PORT: "x", PLANS_FILE: "plans.json" },
      '{"currency":"EUR","plans":[{"plan":"free"}]}',
    );
    expect(problems[0]).toStartWith("PORT must be");
    expect(problems[1]).toBe('PLANS_FILE: currency must be "USD".');
    expect(problems.length).toBeGreaterThan(2);
  });

  test("a plan that is missing is reported beside other problems", () => {
    const plans = plansView(DEFAULT_PLANS).plans.slice(1);
    expect(problemsOf({ PLANS_FILE: "plans.json" }, JSON.stringify({ currency: "EUR", plans }))).toEqual([
      'PLANS_FILE: currency must be "USD".',
      "PLANS_FILE: the plan free is missing.",
    ]);
  });
});

describe("SELF_SERVE_PLANS", () => {
  test("all plans unless it is set, then those that it lists", () => {
    expect(readConfig({}, 1).selfServePlans).toEqual(["free", "starter", "growth", "scale"]);
    expect(readConfig({ SELF_SERVE_PLANS: "Free, starter" }, 1).selfServePlans).toEqual(["free", "starter"]);
  });

  test.each(["gold", "free,", "free starter"])("%s lists no plans", (value) => {
    expect(problemsOf({ SELF_SERVE_PLANS: value })).toEqual([
      `SELF_SERVE_PLANS must list plans of free, starter, growth, scale, not "${value}".`,
    ]);
  });
});

test("listings point to this server's judging check where its address is known, unless another is named", () => {
  const judgeOf = (environment: { readonly [name: string]: string }) =>
    readConfig(environment, 1).directory.judgeUrl;
  const own = { PUBLIC_URL: "https://assay.example/" };
  expect([judgeOf({}), judgeOf(own)]).toEqual([null, "https://assay.example"]);
  expect(judgeOf({ ...own, JUDGE_URL: "https://judge.example" })).toBe("https://judge.example");
});
