/** Returns the CORS headers of the reply to a request. */
export type CrossOrigin = (request: Request) => { readonly [header: string]: string };

/** Allows every origin: for public routes. */
export const anyOrigin: CrossOrigin = () => ({
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "*",
});

/** Allows these origins; undefined without any, so that calls skip the check. */
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
/** A list of header names, as in `Access-Control-Request-Headers`. */
const HEADER_NAMES = /^[\w\-, ]{1,1000}$/;

/** Returns the headers that allow a CORS preflight. */
export function preflightHeaders(request: Request, allow: string): { readonly [header: string]: string } {
  const wanted = request.headers.get("access-control-request-headers") ?? "";
  return {
    "Access-Control-Allow-Methods": allow,
    ...(HEADER_NAMES.test(wanted) ? { "Access-Control-Allow-Headers": wanted } : {}),
    "Access-Control-Max-Age": `${PREFLIGHT_VALID_SECONDS}`,
  };
}
