import { describe, expect, test } from "bun:test";
import { and, BASE_PAYEE, changed, good, redirect, SOLANA, SOLANA_PAYEE, status } from "./made-up-answers.ts";
import {
  type Answer,
  type ServiceChanges,
  scan,
  scanService,
  startMadeUpService,
  statusesOf,
} from "./made-up-service.ts";

/** What a scan asks of a service, and what it knows of it from before. */

describe("what is known from before", () => {
  test("a payee that changed is seen on a resource that the service names itself", async () => {
    const before = await scan({});
    using service = startMadeUpService({ challenge: changed({ payTo: `0x${"12".repeat(20)}` }) });
    const known = before.resources.map((resource) => ({
      ...resource,
      ...{ url: `${service.origin}/v1/paid`, source: "directory" as const, knownPayees: [BASE_PAYEE] },
    }));
    const after = await scanService(service, {}, { known });
    if (after === null) throw new Error("kept out");
    expect(statusesOf(after)["pay.payee"]).toBe("warn");
  });

  test("a payee that gave way to one on another kind of network is seen", async () => {
    const changes = { challenge: changed(SOLANA) };
    using service = startMadeUpService(changes);
    const resource = { method: "GET", url: `${service.origin}/v1/paid`, source: "directory" as const };
    const statusAfter = async (knownPayees: readonly string[]) => {
      const known = [{ ...resource, listedMicroUsd: null, knownPayees }];
      const after = await scanService(service, changes, { known });
      return after === null ? null : statusesOf(after)["pay.payee"];
    };
    expect(await statusAfter([BASE_PAYEE])).toBe("warn");
    expect(await statusAfter([BASE_PAYEE, SOLANA_PAYEE])).toBe("pass");
  });

  test("a payee that changed on one network is seen beside the one that did not", async () => {
    const changes = { challenge: and({ ...SOLANA, payTo: "So11111111111111111111111111111111111111112" }) };
    using service = startMadeUpService(changes);
    const known = [
      {
        ...{ method: "GET", url: `${service.origin}/v1/paid`, source: "directory" as const },
        ...{ listedMicroUsd: null, knownPayees: [BASE_PAYEE, SOLANA_PAYEE] },
      },
    ];
    const after = await scanService(service, changes, { known });
    if (after === null) throw new Error("kept out");
    expect(statusesOf(after)["pay.payee"]).toBe("warn");
  });
});

describe("what a scan sends", () => {
  test("a service that asks to wait for a second is asked again", async () => {
    let calls = 0;
    const evidence = await scan({
      answers: {
        "/v1/paid": (_request, origin) => {
          calls += 1;
          return calls > 1
            ? good(origin, "/v1/paid")
            : Response.json({}, { status: 429, headers: { "Retry-After": "0" } });
        },
      },
    });
    expect(statusesOf(evidence)["pay.402"]).toBe("pass");
  });

  test("what robots.txt keeps this agent from is not asked", async () => {
    const changes = {
      answers: { "/robots.txt": () => new Response("User-agent: assay-scan/1.0\nDisallow: /v1/secret\n") },
    };
    using service = startMadeUpService(changes);
    const resources = [`${service.origin}/v1/secret`];
    const evidence = await scanService(service, changes, { resources });
    expect(service.requests.filter((request) => request.includes("secret"))).toEqual([]);
    expect(evidence?.resources.map(({ url }) => url)).toEqual([`${service.origin}/v1/paid`]);
  });

  test("a redirect to a path that robots.txt keeps this agent from is not followed", async () => {
    const changes = {
      answers: {
        "/robots.txt": () => new Response("User-agent: assay-scan\nDisallow: /private/\n"),
        "/health": () => redirect("/private/health"),
        "/v1/paid": () => redirect("/private/paid"),
      },
    };
    using service = startMadeUpService(changes);
    const evidence = await scanService(service, changes, { resources: [] });
    expect(service.requests.filter((request) => request.includes("private"))).toEqual([]);
    expect(evidence?.exchanges.find(({ role }) => role === "health")?.status).toBe(307);
  });

  test("a redirect to another port or host, or out of TLS, is not followed", async () => {
    let reached = 0;
    using other = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        reached += 1;
        return Response.json({});
      },
    });
    const places = ["", "https://good.example", "http://good.example", `http://127.0.0.1`].map((place) =>
      place === "" ? other.url.href : `${place}:${other.port}/`,
    );
    const paths = ["/", "/llms.txt", "/health", "/openapi.json"];
    const answers = Object.fromEntries(paths.map((path, n) => [path, () => redirect(places[n] ?? "", 308)]));
    const { exchanges } = await scan({ answers });
    expect(exchanges.filter(({ redirectedTo }) => redirectedTo !== undefined)).toEqual([]);
    expect(reached).toBe(0);
  });

  test("five named resources are asked, and at most 26 requests sent, whatever redirects", async () => {
    const changes = {
      answers: { "*": (request: Request) => redirect(`${new URL(request.url).pathname}x`, 308) },
    };
    using service = startMadeUpService(changes);
    const resources = [1, 2, 3, 4, 5].map((n) => `${service.origin}/v1/paid?n=${n}`);
    const evidence = await scanService(service, changes, { resources });
    expect(
      evidence?.exchanges.filter(({ role, status: code }) => role === "resource" && code === 402).length,
    ).toBe(5);
    expect(service.requests.length).toBeLessThanOrEqual(26);
  });
});

describe("a resource that the caller alone names", () => {
  const FREE = ["/", "/health", "/robots.txt", "/llms.txt", "/openapi.json"];
  const scanNamed = async (paths: readonly string[], isOwner: boolean, changes: ServiceChanges = {}) => {
    using service = startMadeUpService(changes);
    const resources = paths.map((path) => `${service.origin}${path}`);
    const evidence = await scanService(service, changes, { resources, isOwner });
    if (evidence === null) throw new Error("kept out");
    const asked = evidence.resources.map(({ url }) => url.slice(service.origin.length));
    return { evidence, asked, statuses: statusesOf(evidence) };
  };

  test("changes nothing of the grade where it is free: nobody has a service graded by its free pages", async () => {
    const plain = await scanNamed([], false);
    const named = await scanNamed(FREE, false);
    expect([named.asked, named.statuses]).toEqual([plain.asked, plain.statuses]);
    expect(named.statuses).toMatchObject({ "pay.402": "pass", "pay.first": "pass" });
    expect(named.evidence.exchanges.filter(({ role }) => role.startsWith("resource")).length).toBe(3);
  });

  test("counts where it asks to be paid, and where the origin names none", async () => {
    const paid = await scanNamed(["/v1/paid?n=1", "/health"], false);
    expect(paid.asked).toEqual(["/v1/paid?n=1", "/v1/paid"]);
    const unnamed = {
      answers: { "/.well-known/x402": () => status(404), "/openapi.json": () => status(404) },
    };
    const free = await scanNamed(["/health"], false, unnamed);
    expect([free.asked, free.statuses["pay.402"], free.statuses["pay.first"]]).toEqual([
      ["/health"],
      "fail",
      "fail",
    ]);
  });

  test("counts for who asks of a service of his own", async () => {
    const { asked, statuses } = await scanNamed(FREE, true);
    expect([asked, statuses["pay.402"]]).toEqual([FREE, "fail"]);
  });
});

test("two scans of an origin that redirects everything follow the same redirects", async () => {
  const followed = async () => {
    let calls = 0;
    const slash: Answer = async (request) => {
      calls += 1;
      await Bun.sleep((calls * 7) % 5);
      const { pathname } = new URL(request.url);
      return pathname.endsWith("/") && pathname !== "/" ? status(404) : redirect(`${pathname}/`, 308);
    };
    const paths = [
      "/",
      "/llms.txt",
      "/openapi.json",
      "/.well-known/x402",
      "/.well-known/api-catalog",
      "/health",
    ];
    const answers = Object.fromEntries([...paths, "*"].map((path) => [path, slash]));
    const { exchanges } = await scan({ answers });
    return exchanges.map(({ role, url, redirectedTo }) => [
      role,
      ...[url, redirectedTo ?? ""].map((text) => text.replace(/^https:..[^/]*/, "")),
    ]);
  };
  const first = await followed();
  expect(first.filter(([, , to]) => to !== "").length).toBeGreaterThan(3);
  expect(await followed()).toEqual(first);
});
