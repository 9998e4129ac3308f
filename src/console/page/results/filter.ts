import type { ResultRow } from "../wire/bodies.ts";

/** A filter of results; an empty word filters nothing. */
export type Filter = { readonly status: string; readonly subStatus: string; readonly domain: string };

export const NO_FILTER: Filter = { status: "", subStatus: "", domain: "" };

export function isFiltered({ status, subStatus, domain }: Filter): boolean {
  return status !== "" || subStatus !== "" || domain !== "";
}

/** Returns the query of the part that the server filters. */
export function queryOf({ status, subStatus }: Filter, format: string): string {
  const query = new URLSearchParams({ format });
  if (status !== "") query.set("status", status);
  if (subStatus !== "") query.set("sub_status", subStatus);
  return `${query}`;
}

/** Whether a result passes the part that the server does not filter. Subdomains count as their domain. */
export function isOfDomain(result: ResultRow, domain: string): boolean {
  if (domain === "") return true;
  const address = String(result.email ?? "");
  const found = address
    .slice(address.lastIndexOf("@") + 1)
    .trim()
    .toLowerCase();
  const wanted = domain.trim().toLowerCase().replace(/^@/, "");
  return found === wanted || found.endsWith(`.${wanted}`);
}
