/** A served model, with its prices. */
export type Model = {
  /** The name for callers. */
  readonly model: string;
  readonly upstreamModel: string;
  /** Millionths of a dollar for a million tokens. */
  readonly inputMicroUsdPerMillion: number;
  readonly outputMicroUsdPerMillion: number;
  readonly contextTokens: number;
  /** Tokens of one choice; at most the context. */
  readonly outputTokensMax: number;
  /** Tokens of one image; null where images are refused. */
  readonly imageTokensMax: number | null;
  /** The margin on the cost, in hundredths of a percent. */
  readonly marginBasisPoints: number;
};

export type ModelTable = {
  readonly models: readonly Model[];
  readonly find: (model: string) => Model | undefined;
};

export type ReadModels =
  | { readonly ok: true; readonly table: ModelTable }
  | { readonly ok: false; readonly problems: readonly string[] };

type Fields = { readonly [name: string]: unknown };

const NAME = /^[\x21-\x7e]{1,256}$/;
const USD = /^(\d{1,6})(?:\.(\d{1,6}))?$/;
const TOKENS_MAX = 1_000_000_000;
const MARGIN_MAX = 100;
const KNOWN = [
  "model",
  "upstream_model",
  "input_usd_per_million",
  "output_usd_per_million",
  "context_tokens",
  "max_output_tokens",
  "image_tokens",
  "margin",
];

/**
 * Reads the price table: `{"models": [{"model", "upstream_model"?, "input_usd_per_million", "output_usd_per_million",
 * "context_tokens", "max_output_tokens"?, "image_tokens"?, "margin"?}]}`. Prices are in USD, `margin` is a part of the
 * cost (0.2 for a fifth). Returns all that is wrong, one sentence each.
 */
export function readModels(text: string): ReadModels {
  const problems: string[] = [];
  const list = listOf(text);
  if (list === null || list.length === 0) {
    return { ok: false, problems: ['it must be {"models": [...]} with at least one model'] };
  }
  const models = list.map((entry, at) => readModel(entry, `models[${at}]`, problems));
  const seen = new Set<string>();
  for (const { model } of models) {
    if (seen.has(model)) problems.push(`the model ${model} is there twice`);
    seen.add(model);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, table: createModelTable(models) };
}

function createModelTable(models: readonly Model[]): ModelTable {
  const byName = new Map(models.map((model) => [model.model, model]));
  return { models, find: (model) => byName.get(model) };
}

function listOf(text: string): readonly unknown[] | null {
  try {
    const { models } = (JSON.parse(text) ?? {}) as Fields;
    return Array.isArray(models) ? models : null;
  } catch {
    return null;
  }
}

function readModel(entry: unknown, where: string, problems: string[]): Model {
  const fields = (typeof entry === "object" && entry !== null ? entry : {}) as Fields;
  const wrong = (name: string, must: string) => problems.push(`${where}.${name} must be ${must}`);
  for (const name of Object.keys(fields)) {
    if (!KNOWN.includes(name)) problems.push(`${where}.${name} is none of ${KNOWN.join(", ")}`);
  }
  const name = (field: string, fallback?: string): string => {
    const value = fields[field] ?? fallback;
    if (typeof value === "string" && NAME.test(value)) return value;
    wrong(field, "a name of printable characters without spaces");
    return "";
  };
  const price = (field: string): number => {
    const match = USD.exec(String(fields[field] ?? ""));
    if (match === null) wrong(field, "an amount of USD with at most 6 decimals, such as 0.15");
    const [, dollars = "0", fraction = ""] = match ?? [];
    return Number(dollars) * 1_000_000 + Number(fraction.padEnd(6, "0"));
  };
  const tokens = (field: string, fallback: number | null): number | null => {
    const value = fields[field];
    if (value === undefined && fallback !== null) return fallback;
    if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= TOKENS_MAX)
      return value;
    wrong(field, `a whole number from 1 to ${TOKENS_MAX}`);
    return null;
  };
  const margin = fields.margin ?? 0;
  const isMargin = typeof margin === "number" && margin >= 0 && margin <= MARGIN_MAX;
  if (!isMargin) wrong("margin", `a number from 0 to ${MARGIN_MAX}`);
  const model = name("model");
  const contextTokens = tokens("context_tokens", null) ?? 1;
  const outputTokensMax = tokens("max_output_tokens", contextTokens) ?? 1;
  if (outputTokensMax > contextTokens) wrong("max_output_tokens", "no more than context_tokens");
  return {
    model,
    upstreamModel: name("upstream_model", model),
    inputMicroUsdPerMillion: price("input_usd_per_million"),
    outputMicroUsdPerMillion: price("output_usd_per_million"),
    contextTokens,
    outputTokensMax,
    imageTokensMax: fields.image_tokens === undefined ? null : tokens("image_tokens", null),
    marginBasisPoints: isMargin ? Math.round(margin * 10_000) : 0,
  };
}
