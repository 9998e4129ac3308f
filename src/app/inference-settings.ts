import { type ModelTable, readModels } from "../inference/model-table.ts";
import type { Pricing } from "../inference/tariff.ts";
import type { UpstreamAddress } from "../inference/upstream.ts";
import { readServiceConfig, type ServiceConfig } from "./service-settings.ts";
import { createReader, type Environment, type ReadText, type SettingReader } from "./setting-reader.ts";

/** The settings of the inference service. */
export type InferenceServiceConfig = ServiceConfig & {
  /** At least one, the preferred one first. */
  readonly upstreams: readonly UpstreamAddress[];
  readonly pricing: Pricing;
  /** Until the head of an upstream's reply, and between two parts of it. */
  readonly upstreamTimeoutMs: number;
  /** Of an answer in one piece, and of a stream as put together. */
  readonly answerBytesMax: number;
};

/** Reads the settings, and the file that MODELS_FILE names. Throws one ConfigError that lists every problem. */
export function readInferenceServiceConfig(
  environment: Environment,
  readText?: ReadText,
): InferenceServiceConfig {
  const settings = createReader(environment);
  const config: InferenceServiceConfig = {
    ...readServiceConfig(settings, { port: 3002, dataDir: "./data/inference" }),
    upstreams: readUpstreams(settings),
    pricing: readPricing(settings, readText),
    upstreamTimeoutMs: settings.integer("INFERENCE_TIMEOUT_SECONDS", 60, 1, 600) * 1000,
    bodyBytesMax: settings.integer("INFERENCE_BODY_BYTES_MAX", 4_194_304, 65_536, 67_108_864),
    answerBytesMax: settings.integer("INFERENCE_ANSWER_BYTES_MAX", 8_388_608, 65_536, 67_108_864),
  };
  settings.finish();
  return Object.freeze(config);
}

/** Addresses and keys stand in the same order; one key is for all. */
function readUpstreams(settings: SettingReader): readonly UpstreamAddress[] {
  const addresses = settings.list("INFERENCE_UPSTREAM");
  const keys = settings.list("INFERENCE_API_KEY");
  if (addresses.length === 0) {
    settings.problem(
      "INFERENCE_UPSTREAM must be the base address of an OpenAI-compatible server, such as https://api.example.com/v1.",
    );
  }
  if (keys.length > 1 && keys.length !== addresses.length) {
    settings.problem("INFERENCE_API_KEY must be one key, or one for each address of INFERENCE_UPSTREAM.");
  }
  return addresses.map((text, at) => {
    const url = URL.parse(text);
    const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
    if (!isAddress || url.username !== "") {
      settings.problem(`INFERENCE_UPSTREAM must list http or https addresses, not "${text}".`);
    }
    return {
      baseUrl: text.replace(/\/+$/, ""),
      apiKey: keys.length === 1 ? (keys[0] ?? null) : (keys[at] ?? null),
    };
  });
}

function readPricing(settings: SettingReader, readText?: ReadText): Pricing {
  const kind = settings.word("INFERENCE_PRICING", "flat", ["flat", "cost_plus"] as const);
  const text = settings.fileText("MODELS_FILE", readText);
  const models = text === null ? null : readTable(settings, text);
  if (kind === "flat") return { kind, models };
  if (settings.optional("MODELS_FILE") === null) {
    settings.problem(
      "INFERENCE_PRICING=cost_plus needs MODELS_FILE: the models that are served, with what they cost.",
    );
  }
  return { kind, models: models ?? { models: [], find: () => undefined } };
}

function readTable(settings: SettingReader, text: string): ModelTable | null {
  const read = readModels(text);
  if (read.ok) return read.table;
  for (const problem of read.problems) settings.problem(`MODELS_FILE: ${problem}.`);
  return null;
}
