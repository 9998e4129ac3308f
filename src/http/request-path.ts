/**
 * Path and query of a request's address. Where the Host is missing or invalid in an address, the address
 * is the path alone: that is no reason to refuse a call, and `URL` would.
 */
export function requestPath(url: string): { readonly pathname: string; readonly search: string } {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const path = url.slice(start, url.includes("#") ? url.indexOf("#") : url.length);
  const query = path.indexOf("?");
  if (query === -1) return { pathname: path, search: "" };
  return { pathname: path.slice(0, query), search: query + 1 === path.length ? "" : path.slice(query) };
}
