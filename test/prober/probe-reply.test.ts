import { expect, test } from "bun:test";
import { readProbe } from "../../src/prober/probe-reply.ts";

/** What a probe reads of a reply, whichever version of x402 its callers speak. */

const way = (network: string, amount: string, payTo: string) => ({ network, asset: "0xa5", amount, payTo });
const encoded = (accepts: readonly object[]) => btoa(JSON.stringify({ x402Version: 2, accepts }));
const inBody = (accepts: readonly { readonly amount: string }[]) =>
  JSON.stringify({
    x402Version: 1,
    accepts: accepts.map(({ amount, ...rest }) => ({ ...rest, maxAmountRequired: amount })),
  });

function waysOf(header: string | null, body: string, isTruncated = false) {
  const headers = { get: (name: string) => (name === "payment-required" ? header : null) };
  const { status, accepts } = readProbe({ status: 402, headers, body, isTruncated }, true);
  return [status, accepts.map(({ network, amount, pay_to }) => `${network} ${amount} ${pay_to}`)];
}

test("what version 1 is asked for in the body counts beside what version 2 is asked for in the header", () => {
  const good = way("eip155:8453", "10000", "0xaa");
  const same = inBody([way("base", "10000", "0xaa")]);
  expect(waysOf(encoded([good]), same)).toEqual(["paid", ["eip155:8453 10000 0xaa"]]);
  expect(waysOf(encoded([good]), inBody([way("base", "10000000", "0xbb")]))).toEqual([
    "paid",
    ["eip155:8453 10000 0xaa", "base 10000000 0xbb"],
  ]);
  for (const body of ["", "{}", "[]", "x", '{"accepts":7}', '{"accepts":[{"payTo":1}]}']) {
    expect(waysOf(encoded([good]), body)).toEqual(["paid", ["eip155:8453 10000 0xaa"]]);
  }
  expect(waysOf(null, same)).toEqual(["paid", ["base 10000 0xaa"]]);
  // Clients of version 2 look no further than a header.
  for (const header of ["no base64 of JSON", encoded([])]) {
    expect(waysOf(header, same)).toEqual(["payment_broken", []]);
  }
  expect(waysOf(null, "{}")).toEqual(["payment_broken", []]);
});

test("a way to pay that cannot be read here is not hidden behind those that can", () => {
  const good = way("eip155:8453", "10000", "0xaa");
  const evil = inBody([way("base", "10000", "0xbb")]);
  expect(waysOf(encoded([good]), evil.slice(0, -2), true)).toEqual(["payment_broken", []]);
  expect(waysOf(encoded([good]), `\n ${evil.slice(0, -2)}`, true)).toEqual(["payment_broken", []]);
  // No client takes a page for a challenge.
  expect(waysOf(encoded([good]), "<html>", true)).toEqual(["paid", ["eip155:8453 10000 0xaa"]]);
  const payees = (count: number) => Array.from({ length: count }, (_, n) => way("base", "10000", `0x${n}`));
  expect(waysOf(encoded(payees(50)), "{}")[1]).toHaveLength(50);
  for (const [first, second] of [
    [encoded(payees(51)), "{}"],
    [encoded(payees(30)), inBody(payees(52).slice(30))],
  ] as const) {
    expect(waysOf(first, second)).toEqual(["payment_broken", []]);
  }
  const padded = [...Array.from({ length: 60 }, () => good), way("base", "10000", "0xbb")];
  expect(waysOf(encoded(padded), "{}")).toEqual(["paid", ["eip155:8453 10000 0xaa", "base 10000 0xbb"]]);
});

test("no price or payee hides in a field that one client reads and another does not", () => {
  const good = way("eip155:8453", "10000", "0xaa");
  const both = (accepts: object) => JSON.stringify({ x402Version: 1, accepts: [accepts] });
  const decoy = { ...good, network: "base", maxAmountRequired: "99000000" };
  expect(waysOf(null, both(decoy))).toEqual(["paid", ["base 99000000 0xaa"]]);
  expect(waysOf(encoded([{ ...decoy, network: good.network }]), "{}")[1]).toEqual(["eip155:8453 10000 0xaa"]);
  for (const odd of [
    JSON.stringify({ accepts: [good], Accepts: [{ ...good, payTo: "0xbb" }] }),
    JSON.stringify({ accepts: [{ ...good, payto: "0xbb" }] }),
    JSON.stringify({ accepts: [{ ...good, Amount: "99000000" }] }),
    JSON.stringify({ accepts: [good, { ...good, amount: 99_000_000, payTo: "0xbb" }] }),
    JSON.stringify({ accepts: [good, { ...good, amount: "0x5e69ec0", payTo: "0xbb" }] }),
    JSON.stringify({ accepts: [{ ...good, a\u017f\u017fet: "0xb6" }] }),
  ]) {
    expect([odd, waysOf(Buffer.from(odd).toString("base64"), "{}")]).toEqual([odd, ["payment_broken", []]]);
    expect([odd, waysOf(encoded([good]), odd)]).toEqual([odd, ["payment_broken", []]]);
  }
  expect(waysOf(encoded([{ ...good, Extra: {}, scheme: "exact" }]), "{}")[0]).toBe("paid");
});
