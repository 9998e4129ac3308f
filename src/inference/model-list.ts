import { formatUsd } from "../billing/money.ts";
import { ApiError } from "../contract/errors.ts";
import type { ListedModelView } from "../contract/specification/inference/models.ts";
import type { HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import { isObject } from "../platform/json-value.ts";
import { MIN_MICRO_USD } from "./cost-bound.ts";
import type { Model } from "./model-table.ts";
import { FLAT_MICRO_USD, type Pricing } from "./tariff.ts";
import { modelsRequest, type UpstreamAddress } from "./upstream.ts";
import { jsonOf } from "./upstream-json.ts";

const FRESH_MS = 60_000;
/** Of all upstreams together: the time to answer a chat would keep a free call waiting for a minute. */
const LISTED_WITHIN_MS = 10_000;

/** Creates the list of served models: those of the table, or of the first upstream that lists them. */
export function createModelList(
  pricing: Pricing,
  {
    upstreams,
    client,
    clock,
    startedAt,
  }: {
    readonly upstreams: readonly UpstreamAddress[];
    readonly client: HttpClient;
    readonly clock: Pick<Clock, "monotonic">;
    readonly startedAt: number;
  },
): () => Promise<readonly ListedModelView[]> {
  const created = Math.floor(startedAt / 1000);
  const { models } = pricing;
  if (models !== null) {
    const listed = models.models.map((model) => listedModel(model, pricing.kind, created));
    return async () => listed;
  }
  let known: { readonly list: readonly ListedModelView[]; readonly untilMs: number } | null = null;
  let asking: Promise<readonly ListedModelView[]> | null = null;

  async function ask(): Promise<readonly ListedModelView[]> {
    for (const upstream of upstreams) {
      const signal = AbortSignal.timeout(LISTED_WITHIN_MS / upstreams.length);
      const list = await fetchModels(client, upstream, created, signal);
      if (list === null) continue;
      known = { list, untilMs: clock.monotonic() + FRESH_MS };
      return list;
    }
    throw new ApiError("upstream_failed", "No upstream lists its models.");
  }

  return async () => {
    if (known !== null && clock.monotonic() < known.untilMs) return known.list;
    asking ??= ask().finally(() => {
      asking = null;
    });
    return await asking;
  };
}

function listedModel(model: Model, mode: Pricing["kind"], created: number): ListedModelView {
  const withMargin = (microUsd: number) =>
    formatUsd(Math.ceil((microUsd * (10_000 + model.marginBasisPoints)) / 10_000));
  return {
    id: model.model,
    object: "model",
    created,
    owned_by: "upstream",
    context_length: model.contextTokens,
    max_output_tokens: model.outputTokensMax,
    pricing:
      mode === "flat"
        ? { mode, call_usd: formatUsd(FLAT_MICRO_USD) }
        : {
            mode,
            call_usd: formatUsd(MIN_MICRO_USD),
            input_usd_per_million: withMargin(model.inputMicroUsdPerMillion),
            output_usd_per_million: withMargin(model.outputMicroUsdPerMillion),
          },
  };
}

async function fetchModels(
  client: HttpClient,
  upstream: UpstreamAddress,
  created: number,
  signal: AbortSignal,
): Promise<readonly ListedModelView[] | null> {
  const { url, headers } = modelsRequest(upstream);
  const reply = await client.send(url, { headers, signal });
  if (!reply.ok || reply.status !== 200) return null;
  const body = jsonOf(Buffer.from(reply.body).toString("utf8"));
  if (!isObject(body) || !Array.isArray(body.data)) return null;
  return body.data.flatMap((entry) => {
    if (!isObject(entry) || typeof entry.id !== "string") return [];
    const listed = {
      ...entry,
      id: entry.id,
      object: "model" as const,
      created: typeof entry.created === "number" ? Math.trunc(entry.created) : created,
      owned_by: typeof entry.owned_by === "string" ? entry.owned_by : "upstream",
      pricing: { mode: "flat" as const, call_usd: formatUsd(FLAT_MICRO_USD) },
    };
    return [listed as ListedModelView];
  });
}
