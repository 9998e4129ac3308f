/** The object that a path is of, such as the job of `/v1/jobs/ID/pause`. */
const OBJECT = /^\/v1\/(?:account\/keys|jobs|webhooks)\/[^/?]+/;
/** Each of these makes a new object, whatever was made before. */
const COLLECTIONS: readonly string[] = ["/v1/account/keys", "/v1/jobs", "/v1/webhooks"];
/** What is sent there is answered, and changes nothing. */
const CHANGING = /^\/v1\/(?:account|jobs|webhooks)(?:[/?]|$)/;

/**
 * Whether a change whose reply has not come is void once another one is made: of two changes of one setting or object the
 * last one counts, and what was made is not made any more once one of its kind was removed.
 */
export function isOvertaken(heldPath: string, method: string | undefined, path: string): boolean {
  if (!CHANGING.test(heldPath) || method === undefined || method === "GET") return false;
  const held = objectOf(heldPath);
  const changed = objectOf(path);
  if (COLLECTIONS.includes(held)) return method === "DELETE" && changed.startsWith(`${held}/`);
  return held === changed;
}

function objectOf(path: string): string {
  return OBJECT.exec(path)?.[0] ?? path.replace(/\?.*$/s, "");
}
