import { expect, test } from "bun:test";
import { readInferenceServiceConfig } from "../../src/app/inference-settings.ts";
import { ConfigError } from "../../src/app/setting-reader.ts";

const LEAST = {
  INFERENCE_UPSTREAM: "https://api.example.com/v1/",
  PAY_TO_EVM: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  X402_FACILITATOR: "https://facilitator.example",
};
const MODELS = JSON.stringify({
  models: [
    { model: "m", input_usd_per_million: "0.15", output_usd_per_million: "0.6", context_tokens: 1000 },
  ],
});

function problemsOf(environment: { readonly [name: string]: string }, models = MODELS): string {
  try {
    readInferenceServiceConfig(environment, (path) => {
      if (path === "none.json") throw new Error("ENOENT");
      return models;
    });
    return "";
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

test("the service starts with an upstream, a payee and a facilitator, at 0.01 USD a call", () => {
  const { pricing, upstreams } = readInferenceServiceConfig(LEAST);
  expect(pricing).toEqual({ kind: "flat", models: null });
  expect(upstreams).toEqual([{ baseUrl: "https://api.example.com/v1", apiKey: null }]);
});

test("upstreams stand in the order of preference, each with its key", () => {
  const two = { ...LEAST, INFERENCE_UPSTREAM: "http://a.example/v1, http://b.example/v1" };
  const keysOf = (keys: string) =>
    readInferenceServiceConfig({ ...two, INFERENCE_API_KEY: keys }).upstreams.map(({ apiKey }) => apiKey);
  expect(keysOf("one")).toEqual(["one", "one"]);
  expect(keysOf("one,two")).toEqual(["one", "two"]);
});

test("what is missing or wrong keeps it from starting, and is said", () => {
  const without = (name: keyof typeof LEAST) => problemsOf({ ...LEAST, [name]: "" });
  expect(without("PAY_TO_EVM")).toContain("PAY_TO_EVM or PAY_TO_SOLANA must be");
  expect(without("X402_FACILITATOR")).toContain("X402_FACILITATOR must be");
  expect(without("INFERENCE_UPSTREAM")).toContain("INFERENCE_UPSTREAM must be");
  const wrong = (name: string, value: string, models?: string) =>
    problemsOf({ ...LEAST, [name]: value }, models);
  expect(wrong("INFERENCE_UPSTREAM", "ftp://a.example/v1")).toContain("must list http or https addresses");
  expect(wrong("INFERENCE_UPSTREAM", "http://user:word@a.example/v1")).toContain("INFERENCE_UPSTREAM");
  expect(wrong("INFERENCE_API_KEY", "a,b")).toContain("one key, or one for each address");
  expect(wrong("INFERENCE_PRICING", "free")).toContain("INFERENCE_PRICING");
  expect(wrong("INFERENCE_PRICING", "cost_plus")).toContain("needs MODELS_FILE");
  expect(wrong("MODELS_FILE", "none.json")).toContain("none.json cannot be read");
  expect(wrong("MODELS_FILE", "m.json", "{}")).toContain('MODELS_FILE: it must be {"models": [...]}');
  expect(wrong("MODELS_FILE", "m.json", MODELS.replace("0.15", "-1"))).toContain("input_usd_per_million");
  expect(wrong("INFERENCE_BODY_BYTES_MAX", "1")).toContain("INFERENCE_BODY_BYTES_MAX");
  expect(wrong("INFERENCE_ANSWER_BYTES_MAX", "1")).toContain("INFERENCE_ANSWER_BYTES_MAX");
  expect(wrong("INFERENCE_TIMEOUT_SECONDS", "0")).toContain("INFERENCE_TIMEOUT_SECONDS");
  expect(problemsOf({ ...LEAST, INFERENCE_PRICING: "cost_plus", MODELS_FILE: "m.json" })).toBe("");
});
