/** Syntax faults of the local part. */
import type { SyntaxFault } from "../../contract/words.ts";
import { asciiTable } from "./ascii-table.ts";

const DOT = 0x2e;

/** RFC 5322 atext, by character code. */
export const ATEXT = asciiTable(
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~",
  1,
);

/** Returns the fault of an address whose local part has an invalid character at `position`. */
export function localFault(address: string, position: number): SyntaxFault {
  if (!address.includes("@")) return "at_sign_missing";
  if (address.endsWith(">") && address.includes("<")) return "display_name";
  const character = address.charAt(position);
  if (character === ".") return position === 0 ? "local_dot_leading" : "local_dot_dot";
  if (character === '"' && position === 0) return "local_quoted";
  if (character === "(" || character === ")") return "comment";
  if (character === " ") return "local_space";
  const code = address.charCodeAt(position);
  return code < 0x20 || code === 0x7f ? "local_control_character" : "local_forbidden_character";
}

const PLAIN_WIDE = /^[\p{L}\p{N}\p{P}\p{S}\p{M}]*$/u;

/** What stands where a text lost a character in decoding (U+FFFD), or an image when it was copied (U+FFFC). */
const LOST = /[\ufffc\ufffd]/;

/** Returns the fault of a local part that is not ASCII: a character that RFC 6531 allows, but few can see or type. */
export function wideLocalFault(local: string): SyntaxFault | null {
  if (/^\p{M}/u.test(local)) return "local_mark_leading";
  if (LOST.test(local)) return "local_forbidden_character";
  for (const character of local) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 128) {
      if (code !== DOT && ATEXT[code] === 0) return "local_forbidden_character";
    } else if (/\p{Default_Ignorable_Code_Point}/u.test(character)) return "local_format_character";
    else if (!PLAIN_WIDE.test(character)) return wideFault(character);
  }
  return null;
}

function wideFault(character: string): SyntaxFault {
  if (/\p{Z}/u.test(character)) return "local_space";
  if (/\p{Cc}/u.test(character)) return "local_control_character";
  if (/\p{Cs}/u.test(character)) return "local_lone_surrogate";
  if (/\p{Co}/u.test(character)) return "local_private_use_character";
  if (/\p{Cf}/u.test(character)) return "local_format_character";
  return "local_unassigned_character";
}
