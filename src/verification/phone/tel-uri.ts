/** The parts of a `tel:` URI (RFC 3966) that matter for the number. */
export type TelUri = {
  readonly number: string;
  readonly extension: string | undefined;
};

/** RFC 3966 allows no slashes behind it, but people write them. */
const SCHEME = /^tel:(?:\/\/)?/i;

/**
 * Parses a `tel:` URI, or a text with its parameters and without the scheme; any other text is returned as the number.
 * Null where the phone-context or the extension is malformed. A context that is a domain name is ignored; one that is a
 * prefix is put before a local number.
 *
 * @example readTelUri("tel:03-331-6005;phone-context=+64") // number "+6403-331-6005"
 * @example readTelUri("tel:+1-201-555-0123;ext=12") // number "+1-201-555-0123", extension "12"
 */
export function readTelUri(text: string): TelUri | null {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined && !/;(?:phone-context|isub|ext)=/i.test(text))
    return { number: text, extension: undefined };
  const [local = "", ...parameters] = text.slice(scheme?.length ?? 0).split(";");
  let number = (scheme === undefined ? local : percentDecoded(local)).trim();
  let extension: string | undefined;
  let context: string | undefined;
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=", 2);
    if (/^ext$/i.test(name)) {
      extension = value.replace(/[-.()\s]/g, "");
      if (!/^\d{1,20}$/.test(extension)) return null;
    } else if (/^phone-context$/i.test(name)) context = percentDecoded(value);
  }
  if (context !== undefined) {
    if (!isContext(context)) return null;
    if (context.startsWith("+") && !number.startsWith("+")) number = context + number;
  }
  return { number, extension };
}

/** Returns whether a phone-context is a prefix of a global number, or a domain name. */
function isContext(context: string): boolean {
  if (context.startsWith("+")) return /^\+[\d\-.()]*$/.test(context) && /\d/.test(context);
  const labels = context.replace(/\.$/, "").split(".");
  const top = labels.at(-1) ?? "";
  return /^[a-z]/i.test(top) && labels.every((label) => /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i.test(label));
}

/** Decodes the escapes of characters in phone numbers; any other one is left, and makes the text invalid. */
function percentDecoded(text: string): string {
  return text.replace(/%(2[089bdef]|3\d)/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
