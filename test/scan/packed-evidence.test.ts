import { expect, test } from "bun:test";
import { atOnce, createSteps } from "../../src/platform/steps.ts";
import type { Evidence } from "../../src/scan/evidence.ts";
import { evidenceText, packEvidence, unpackEvidence } from "../../src/scan/packed-evidence.ts";
import { scan } from "./made-up-service.ts";

async function packedBefore(evidence: Evidence): Promise<string> {
  return Buffer.from(await Bun.zstdCompress(JSON.stringify(evidence), { level: 1 })).toString("base64");
}

test("evidence is read as it was packed, whatever lines a target writes", async () => {
  const whole = await scan({});
  const lines = "\n]}\n,\r\n\u2028{},\n";
  const hostile = whole.exchanges.map((exchange) => ({ ...exchange, body: lines, url: `${exchange.url}\n` }));
  for (const evidence of [whole, { ...whole, exchanges: hostile }, { ...whole, exchanges: [] }]) {
    const packed = await packEvidence(evidence, atOnce);
    expect(await unpackEvidence(packed, atOnce)).toEqual(evidence);
    expect(JSON.parse(await evidenceText(packed, atOnce))).toEqual(evidence);
    expect(await unpackEvidence(await packedBefore(evidence), atOnce)).toEqual(evidence);
  }
});

test("each exchange of packed evidence is read in a step of its own", async () => {
  const evidence = await scan({});
  const packed = await packEvidence(evidence, atOnce);
  let steps = 0;
  const inSteps = createSteps(() => performance.now());
  const counted = <T>(step: () => T): Promise<T> => {
    steps += 1;
    return inSteps(step);
  };
  expect(await unpackEvidence(packed, counted)).toEqual(evidence);
  expect(steps).toBe(evidence.exchanges.length + 2);
});
