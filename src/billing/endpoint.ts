const ENDPOINT_CHARS_MAX = 64;

/** Returns what usage is grouped by, which must stay short: anything else is a bug. */
export function checkEndpoint(endpoint: string): string {
  if (endpoint.length === 0 || endpoint.length > ENDPOINT_CHARS_MAX) {
    throw new Error(`an endpoint has 1 to ${ENDPOINT_CHARS_MAX} characters, not ${endpoint.length}`);
  }
  return endpoint;
}
