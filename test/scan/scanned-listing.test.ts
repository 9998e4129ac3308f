import { expect, test } from "bun:test";
import type { Evidence, Exchange } from "../../src/scan/evidence.ts";
import { scannedListing } from "../../src/scan/scanned-listing.ts";
import { scoreEvidence } from "../../src/scan/score.ts";
import { scan } from "./made-up-service.ts";

/** What of a scanned host is listed, whatever the host says of itself. */

const PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const PRICED = {
  scheme: "exact",
  network: "eip155:8453",
  amount: "10000",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
};

/** A resource that asks to be paid. */
function asking(url: string, payTo: string): Exchange {
  const accepts = [{ ...PRICED, payTo }];
  const header = Buffer.from(JSON.stringify({ x402Version: 2, accepts })).toString("base64");
  return {
    ...{ role: "resource", method: "GET", url, status: 402, ms: 1, failure: null, body: "{}" },
    headers: { "payment-required": header },
  };
}

const evidence = { ...(await scan({})), origin: "https://good.example" };

function listingWith(...exchanges: readonly Exchange[]) {
  const others = evidence.exchanges.filter(({ role }) => !role.startsWith("resource"));
  const found: Evidence = { ...evidence, exchanges: [...others, ...exchanges] };
  return scannedListing(found, scoreEvidence(found), "https://judge.example");
}

test("a payee that is no address is not listed, however long", () => {
  for (const payTo of ["x".repeat(60_000), "0xaa", PAYEE.replace("C51812", "c51812"), ""]) {
    expect(listingWith(asking("https://good.example/paid", payTo))).toBeNull();
  }
});

test("what no listing can hold is left out, and the other resources of its host are listed", () => {
  const good = asking("https://good.example/paid", PAYEE);
  const left = [
    asking("https://good.example/other-payee", "x".repeat(60_000)),
    asking(`https://good.example/${"long".repeat(600)}`, PAYEE),
    // Of the length of an address, but not as one that the address of the check names.
    asking(`https://good.example/${"/".repeat(1500)}`, PAYEE),
    asking("http://good.example/plain", PAYEE),
    asking("https://other.example/paid", PAYEE),
  ];
  const listing = listingWith(...left, good);
  expect(listing).toMatchObject({ host: "good.example", endpoints: 1, evidence: { pay_to: PAYEE } });
  expect(listing?.resources.map(({ url }) => url)).toEqual([good.url]);
  expect(JSON.stringify(listing).length).toBeLessThan(1000);
});

test("a listing of five of the longest addresses has 14 KB at most", () => {
  const urls = Array.from({ length: 5 }, (_, n) => `https://good.example/${n}${"a".repeat(1970)}`);
  const listing = listingWith(...urls.map((url) => asking(url, PAYEE)));
  expect(listing?.resources.map(({ url }) => url)).toEqual(urls);
  expect(JSON.stringify(listing).length).toBeLessThan(14_000);
});
