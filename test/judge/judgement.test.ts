import { describe, expect, test } from "bun:test";
import type { CheckFacts } from "../../src/contract/specification/directory/check.ts";
import { JUDGE_RULES, judge } from "../../src/judge/judgement.ts";

const USDC_ON_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const USDC_ON_SOLANA = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

const GOOD: CheckFacts = {
  resource: "https://good.example/v1/paid",
  host: "good.example",
  pay_to: { address: "0xabc", first_seen: null, changed_at: null, shared_hosts: 0 },
  price: { listed_usd: "0.010000", observed_usd: "0.010000", drift: 0 },
  uptime_30d: 1,
  probes_30d: 4320,
  median_latency_ms: 200,
  observed: {
    probed_at: "2026-11-20T10:00:00.000Z",
    method: "GET",
    status: "paid",
    ms: 200,
    accepts: [{ network: "eip155:8453", asset: USDC_ON_BASE, amount: "10000", pay_to: "0xABC" }],
  },
  as_of: "2026-11-20T10:00:00.000Z",
  stale: false,
};
const onBase = (amount: string) => ({ network: "base", asset: USDC_ON_BASE, amount, pay_to: "0xABC" });
const onSolana = (amount: string) => ({ network: "solana", asset: USDC_ON_SOLANA, amount, pay_to: "Payee" });
const accepts = (payTo: string) => [{ ...onBase("1"), pay_to: payTo }];
const observed = (changes: object) => ({ observed: { ...(GOOD.observed ?? {}), ...changes } as never });
const payTo = (changes: object) => ({ pay_to: { ...GOOD.pay_to, ...changes } });
const price = (changes: object) => ({ price: { ...GOOD.price, ...changes } });

/** What breaks each rule, and the verdict it leads to. */
const ROWS: readonly (readonly [string, Partial<CheckFacts>, string])[] = [
  ["not_listed", payTo({ address: null }), "unrated"],
  ["few_probes", { probes_30d: 19 }, "unrated"],
  ["mostly_down", { uptime_30d: 0.49 }, "deny"],
  ["often_down", { uptime_30d: 0.5 }, "review"],
  ["sometimes_down", { uptime_30d: 0.98 }, "allow"],
  ["very_slow", { median_latency_ms: 2501 }, "review"],
  ["slow", { median_latency_ms: 2500 }, "allow"],
  ["payment_broken", observed({ status: "payment_broken" }), "deny"],
  ["down_now", observed({ status: "down", accepts: [] }), "review"],
  ["probes_blocked", observed({ status: "blocked", accepts: [] }), "allow"],
  ["payee_mismatch", observed({ accepts: accepts("0xeee") }), "deny"],
  ["payee_absent", observed({ accepts: [onSolana("10000")] }), "review"],
  ["payee_changed", payTo({ changed_at: "2026-11-14T10:00:00Z" }), "review"],
  ["payee_shared", payTo({ shared_hosts: 11 }), "allow"],
  ["price_far_off", price({ drift: 1.01 }), "deny"],
  ["price_uneven", observed({ accepts: [onBase("10000"), onSolana("20001")] }), "review"],
  ["price_drift", price({ drift: -0.02 }), "review"],
  ["price_implausible", price({ observed_usd: "1000.010000", drift: null }), "deny"],
  ["token_unknown", observed({ accepts: [{ ...onBase("10000"), asset: "0xdef" }] }), "review"],
  ["price_unknown", price({ listed_usd: null, observed_usd: null, drift: null }), "allow"],
  ["stale", { stale: true }, "allow"],
];

describe("the rules of the judging check", () => {
  test("a resource without a fault is allowed with 100", () => {
    expect(judge(GOOD)).toEqual({ verdict: "allow", score: 100, reasons: [] });
  });

  for (const [code, changes, verdict] of ROWS) {
    test(`${code}: ${verdict}`, () => {
      const judged = judge({ ...GOOD, ...changes });
      expect([judged.verdict, judged.reasons.map((reason) => reason.code)]).toEqual([
        verdict as never,
        [code],
      ]);
      expect(judged.score === null).toBe(verdict === "unrated");
      if (verdict === "deny") expect(judged.score).toBeLessThanOrEqual(20);
    });
  }

  test("all have a row here", () => {
    expect(ROWS.map(([code]) => code)).toEqual(JUDGE_RULES.map(({ code }) => code));
  });

  test("what a rule is about may change by one step without it", () => {
    for (const changes of [
      { probes_30d: 20 },
      { uptime_30d: 0.99 },
      { median_latency_ms: 800 },
      payTo({ shared_hosts: 10 }),
      payTo({ changed_at: "2026-11-13T10:00:00.000Z" }),
      price({ drift: 0.01 }),
      price({ observed_usd: "1000.000000", drift: null }),
      price({ listed_usd: "0.000000", observed_usd: "0.000000", drift: null }),
      observed({ accepts: [onBase("1000000000")] }),
      observed({ accepts: [onBase("10000"), onSolana("20000")] }),
      observed({ accepts: [{ ...onBase("1"), network: "eip155:10" }] }),
    ]) {
      expect([changes, judge({ ...GOOD, ...changes }).verdict]).toEqual([changes, "allow"]);
    }
  });

  test("no payee hides behind another network, another spelling or the ways of other kinds of networks", () => {
    const [evm, evil] = [`0x${"a1".repeat(20)}`, `0x${"e7".repeat(20)}`];
    const [sol, evilSol] = ["Payee1111111111", "Other1111111111"];
    const way = (network: string, to: string) => ({ ...onBase("10000"), network, pay_to: to });
    const codesOf = (address: string, ...ways: readonly (readonly [string, string])[]) => {
      const accepts = ways.map(([network, to]) => way(network, to));
      const { reasons } = judge({ ...GOOD, ...payTo({ address }), ...observed({ accepts }) });
      const found = reasons.filter(({ code }) => code === "payee_mismatch" || code === "payee_absent");
      return found.map(({ code, evidence }) => `${code} ${evidence}`);
    };
    for (const [code, address, other, ...ways] of [
      ["payee_mismatch", evm, evil, ["base", evil]],
      ["payee_mismatch", evm, evil, ["base", evm], ["eip155:137", evil]],
      ["payee_mismatch", evm, evil, ["base", evm], ["a-network", evil]],
      ["payee_mismatch", evm, evil.replace("0x", "0X"), ["base", evm], ["base", evil.replace("0x", "0X")]],
      ["payee_mismatch", evm, evil.slice(2), ["base", evm], ["base", evil.slice(2)]],
      ["payee_mismatch", sol, evilSol, ["solana", sol], ["solana", evilSol]],
      ["payee_mismatch", sol, sol.toLowerCase(), ["solana", sol.toLowerCase()]],
      ["payee_absent", evm, sol, ["solana", sol]],
      ["payee_absent", evm, "GSTELLAR", ["stellar:pubnet", "GSTELLAR"], ["solana", sol]],
      ["payee_absent", sol, evm, ["base", evm]],
    ] as const) {
      expect([ways, codesOf(address, ...ways)]).toEqual([ways, [`${code} ${other} instead of ${address}`]]);
    }
    for (const [address, ...ways] of [
      [evm],
      [evm, ["base", evm.toUpperCase().replace("0X", "0x")], ["solana", sol]],
      [evm, ["aptos:1", `0x${"b2".repeat(32)}`], ["base", evm]],
      [sol, ["solana", sol], ["base", evm], ["stellar:pubnet", "GSTELLAR"]],
    ] as const) {
      expect([ways, codesOf(address, ...ways)]).toEqual([ways, []]);
    }
  });

  test("no price hides behind another way to pay, another token or too many digits", () => {
    const codesOf = (changes: object) => judge({ ...GOOD, ...changes }).reasons.map(({ code }) => code);
    const free = price({ listed_usd: "0.000000", observed_usd: "5.000000", drift: null });
    expect(codesOf(free)).toEqual(["price_far_off"]);
    const dear = [onBase("10000"), onSolana("1000000001")];
    expect(codesOf(observed({ accepts: dear }))).toEqual(["price_uneven", "price_implausible"]);
    const unread = price({ observed_usd: null, drift: null });
    expect(codesOf({ ...unread, ...observed({ accepts: [onBase("9".repeat(30))] }) })).toEqual([
      "price_implausible",
    ]);
    const inPlayMoney = {
      ...onBase("1"),
      network: "base-sepolia",
      asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    };
    expect(codesOf(observed({ accepts: [inPlayMoney] }))).toEqual(["token_unknown"]);
    const ofEighteen = {
      network: "megaeth",
      asset: "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7",
      pay_to: "0xabc",
    };
    expect(
      codesOf(observed({ accepts: [{ ...ofEighteen, amount: `1${"0".repeat(16)}` }, onBase("10000")] })),
    ).toEqual([]);
  });
});
