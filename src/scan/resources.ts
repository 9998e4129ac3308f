import { isObject, type JsonObject } from "../platform/json-value.ts";
import { basePathOf, paidOperations } from "./checks/disc-openapi.ts";
import { listedResources } from "./checks/disc-wellknown.ts";
import { type Evidence, exchangeOf, jsonOf, type Resource, written } from "./evidence.ts";

export type ResourceRequest = {
  readonly origin: string;
  /** Resources that the caller names. */
  readonly resources: readonly string[];
  readonly isOwner: boolean;
  /** Resources of the origin from the directory and the last scan. */
  readonly known: readonly Resource[];
};

/** A resource, and whether any but a caller who is not the origin's names it. */
export type NamedResource = Resource & { readonly isConfirmed: boolean };
/** And whether something says by which method it is called. */
type Named = NamedResource & { readonly isDeclared: boolean };

/** Returns the resources to ask: the caller's first, then those that the origin names itself. */
export function resourcesOf(
  evidence: Evidence,
  { origin, resources, isOwner, known }: ResourceRequest,
): readonly NamedResource[] {
  const { hostname } = new URL(origin);
  const openapi = jsonOf(exchangeOf(evidence, "openapi"));
  const wellKnown = jsonOf(exchangeOf(evidence, "well_known"));
  const found: readonly Named[] = [
    ...resources.map((url) => ({
      ...named(URL.parse(url)?.href ?? url, "caller", null),
      isConfirmed: isOwner,
    })),
    ...(openapi === null ? [] : ofOpenapi(openapi, origin)),
    ...(wellKnown === null ? [] : listedResources(wellKnown, origin)).map((entry) =>
      named(entry.url.href, "well_known", entry.method),
    ),
    ...known.map((resource) => ({ ...resource, isConfirmed: true, isDeclared: false })),
  ];
  const byUrl = new Map<string, Named>();
  for (const resource of found) {
    if (URL.parse(resource.url)?.hostname !== hostname) continue;
    byUrl.set(resource.url, merged(byUrl.get(resource.url), resource));
  }
  return [...byUrl.values()].map(({ isDeclared: _, ...resource }) => resource);
}

/** Merges two descriptions of a resource; the first has priority. */
function merged(first: Named | undefined, more: Named): Named {
  if (first === undefined) return more;
  return {
    ...first,
    method: first.isDeclared || !more.isDeclared ? first.method : more.method,
    isDeclared: first.isDeclared || more.isDeclared,
    isConfirmed: first.isConfirmed || more.isConfirmed,
    listedMicroUsd: first.listedMicroUsd ?? more.listedMicroUsd,
    knownPayees: [...first.knownPayees, ...more.knownPayees],
  };
}

function named(url: string, source: Resource["source"], method: string | null): Named {
  const isDeclared = method === "GET" || method === "POST";
  // Scans send no other method.
  return {
    method: isDeclared ? method : "GET",
    url,
    source,
    listedMicroUsd: null,
    knownPayees: [],
    isConfirmed: true,
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
