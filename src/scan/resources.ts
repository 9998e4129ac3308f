import { SCAN_RESOURCES_MAX } from "../contract/scan-limits.ts";
import { isObject, type JsonObject } from "../platform/json-value.ts";
import { basePathOf, paidOperations } from "./checks/disc-openapi.ts";
import { listedResources } from "./checks/disc-wellknown.ts";
import { type Evidence, exchangeOf, jsonOf, type Resource, written } from "./evidence.ts";

export type ResourceRequest = {
  readonly origin: string;
  /** Those that the caller names. */
  readonly resources: readonly string[];
  /** What is known of the origin's resources from before. */
  readonly known: readonly Resource[];
};

/** A resource, and whether something says by which method it is called. */
type Named = Resource & { readonly isDeclared: boolean };

/** Returns the resources to ask, at most 5: the caller's first, then those that the origin names itself. */
export function resourcesOf(
  evidence: Evidence,
  { origin, resources, known }: ResourceRequest,
): readonly Resource[] {
  const { hostname } = new URL(origin);
  const openapi = jsonOf(exchangeOf(evidence, "openapi"));
  const wellKnown = jsonOf(exchangeOf(evidence, "well_known"));
  const found: readonly Named[] = [
    ...resources.map((url) => named(URL.parse(url)?.href ?? url, "caller", null)),
    ...(openapi === null ? [] : ofOpenapi(openapi, origin)),
    ...(wellKnown === null ? [] : listedResources(wellKnown, origin)).map((entry) =>
      named(entry.url.href, "well_known", entry.method),
    ),
    ...known.map((resource) => ({ ...resource, isDeclared: false })),
  ];
  const byUrl = new Map<string, Named>();
  for (const resource of found) {
    if (URL.parse(resource.url)?.hostname !== hostname) continue;
    byUrl.set(resource.url, merged(byUrl.get(resource.url), resource));
  }
  return [...byUrl.values()].slice(0, SCAN_RESOURCES_MAX).map(({ isDeclared: _, ...resource }) => resource);
}

/** The first that names a resource matters most; each adds what those before it do not know. */
function merged(first: Named | undefined, more: Named): Named {
  if (first === undefined) return more;
  return {
    ...first,
    method: first.isDeclared || !more.isDeclared ? first.method : more.method,
    isDeclared: first.isDeclared || more.isDeclared,
    listedMicroUsd: first.listedMicroUsd ?? more.listedMicroUsd,
    knownPayees: [...first.knownPayees, ...more.knownPayees],
  };
}

function named(url: string, source: Resource["source"], method: string | null): Named {
  const isDeclared = method === "GET" || method === "POST";
  // No other method is sent to the server of another.
  return {
    method: isDeclared ? method : "GET",
    url,
    source,
    listedMicroUsd: null,
    knownPayees: [],
    isDeclared,
  };
}

function ofOpenapi(openapi: JsonObject, origin: string): readonly Named[] {
  const base = `${origin}${basePathOf(openapi, origin)}`;
  return paidOperations(openapi).flatMap(({ method, path, operation }) => {
    const url = path.startsWith("/") ? URL.parse(`${base}${path}`) : null;
    if (url === null) return [];
    return [{ ...named(url.href, "openapi", method), listedMicroUsd: priceOf(operation["x-payment-info"]) }];
  });
}

/** Reads `x-payment-info`: `{"price":{"amount":"0.01"}}`, in USD. */
function priceOf(info: unknown): number | null {
  const price = isObject(info) && isObject(info.price) ? info.price : null;
  const amount = Number(written(price?.amount));
  return Number.isFinite(amount) && amount > 0 ? Math.round(amount * 1_000_000) : null;
}
