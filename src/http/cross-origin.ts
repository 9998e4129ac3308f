/** Returns the headers by which a browser knows whether a page of another origin may read the reply to a request. */
export type CrossOrigin = (request: Request) => { readonly [header: string]: string };

/** Lets pages of every origin read: for what is public. */
export const anyOrigin: CrossOrigin = () => ({
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "*",
});

/** Lets pages of these origins read; undefined where there are none, so that nothing need be asked of a call. */
export function namedOrigins(origins: readonly string[]): CrossOrigin | undefined {
  if (origins.length === 0) return undefined;
  const allowed = new Set(origins);
  return (request) => {
    const origin = request.headers.get("origin");
    if (origin === null || !allowed.has(origin)) return { Vary: "Origin" };
    return {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers": "*",
      Vary: "Origin",
    };
  };
}

const PREFLIGHT_VALID_SECONDS = 600;
/** Names of headers, as a browser lists those that a page wants to send. */
const HEADER_NAMES = /^[\w\-, ]{1,1000}$/;

/** Returns the reply to a browser's preflight, before it sends a call for a page of another origin that may. */
export function preflightHeaders(request: Request, allow: string): { readonly [header: string]: string } {
  const wanted = request.headers.get("access-control-request-headers") ?? "";
  return {
    "Access-Control-Allow-Methods": allow,
    ...(HEADER_NAMES.test(wanted) ? { "Access-Control-Allow-Headers": wanted } : {}),
    "Access-Control-Max-Age": `${PREFLIGHT_VALID_SECONDS}`,
  };
}
