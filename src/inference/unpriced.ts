import { isObject } from "../platform/json-value.ts";
import type { JsonObject, JsonValue } from "./choices.ts";

/** What a call asks for that the price table has no price for, and the field that asks for it. */
export type Unpriced = { readonly message: string; readonly param: string };

/**
 * Fields with which upstreams charge for something else than the tokens of the one model, or make more tokens of a call than
 * it has bytes. Sources: the chat completions of OpenAI (spoken answers, predicted output, web search), xAI
 * (`search_parameters`), Alibaba (`enable_search`), Azure (`data_sources`, which are searched for input), vLLM (`best_of`;
 * `chat_template`, which may repeat itself; `mm_processor_kwargs`, which enlarge images), llama.cpp (`n_cmpl`), OpenRouter
 * (`models`, `plugins`, `provider`) and LiteLLM (`fallbacks`, and `extra_body`, which replaces other fields).
 */
const UNPRICED_FIELDS: readonly string[] = [
  ..."audio prediction web_search_options search_parameters enable_search data_sources best_of".split(" "),
  ..."n_cmpl chat_template mm_processor_kwargs models plugins provider fallbacks extra_body".split(" "),
];
/** All fields that may have no price. */
export const PRICED_BY_VALUE: readonly string[] = [...UNPRICED_FIELDS, "service_tier", "modalities", "tools"];
/** The tiers that cost what a call without the field does, by the names that OpenAI, Google, Anthropic and Groq give them. */
const USUAL_TIERS: ReadonlySet<JsonValue> = new Set(
  "auto default standard standard_only on_demand".split(" "),
);
/** Other tools run at the upstream, at a price of their own. */
const CALLERS_TOOLS: ReadonlySet<JsonValue> = new Set(["function", "custom"]);

/** Returns the first field of a body that has no price, or null. */
export function findUnpriced(body: JsonObject): Unpriced | null {
  for (const param of PRICED_BY_VALUE) {
    const value = body[param] ?? null;
    const message = value === null ? null : whyUnpriced(param, value);
    if (message !== null) return { message, param };
  }
  return null;
}

/** Returns whether a field says what holds without it, as clients send it that fill in all fields. */
function isUnused(name: string, value: JsonValue): boolean {
  if (name === "enable_search") return value === false;
  if (name === "best_of" || name === "n_cmpl") return value === 1;
  return ["models", "plugins", "fallbacks", "data_sources"].includes(name) && isEmptyList(value);
}

function isEmptyList(value: JsonValue): boolean {
  return Array.isArray(value) && value.length === 0;
}

function whyUnpriced(name: string, value: JsonValue): string | null {
  if (name === "service_tier") {
    return USUAL_TIERS.has(value)
      ? null
      : "This service_tier has no price here: leave it out, or let it be auto or default.";
  }
  if (name === "modalities") {
    return JSON.stringify(value) === '["text"]' ? null : "Answers in anything but text have no price here.";
  }
  if (isUnused(name, value)) return null;
  if (name !== "tools") return `${name} has no price here.`;
  const tools: readonly JsonValue[] = Array.isArray(value) ? value : [];
  const other = tools.find((tool) => isObject(tool) && !CALLERS_TOOLS.has(typeOf(tool)));
  return isObject(other) ? `Tools of type ${String(other.type).slice(0, 40)} have no price here.` : null;
}

/** A tool without a type is one of the caller's. */
function typeOf({ type }: JsonObject): JsonValue {
  return type ?? "function";
}
