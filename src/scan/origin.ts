/**
 * Normalises an origin: lower case, without a path or a default port. Null where it cannot be scanned. A host without a
 * scheme counts as https.
 */
export function readOrigin(text: string): string | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") return null;
  return url.username === "" && url.password === "" ? url.origin : null;
}
