/**
 * The parameters of an address in the order they stand, decoded as forms are (`+` is a space). What is not well
 * encoded is read as browsers read it, never refused.
 */
export function readQuery(url: string): [name: string, value: string][] {
  const start = url.indexOf("?");
  if (start === -1) return [];
  const pairs: [string, string][] = [];
  for (let at = start + 1; at < url.length; ) {
    const ampersand = url.indexOf("&", at);
    const end = ampersand === -1 ? url.length : ampersand;
    const equals = url.indexOf("=", at);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    if (end > at) pairs.push([decode(url.slice(at, nameEnd)), decode(url.slice(nameEnd + 1, end))]);
    at = end + 1;
  }
  return pairs;
}

function decode(text: string): string {
  if (!text.includes("%")) return text.includes("+") ? text.replaceAll("+", " ") : text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return new URLSearchParams(`value=${text}`).get("value") ?? "";
  }
}
