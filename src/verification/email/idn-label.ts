/** The rules of U-labels (RFC 5891, 5892) that the conversion by UTS 46 does not check. */

/**
 * Characters that are disallowed in U-labels (RFC 5892, 2 and 3): all but letters, digits and marks, and of those the
 * exceptions, old Hangul jamo, and combining marks for symbols and music. The conversion checks the two joiners. Emoji
 * pass although they are disallowed: registries such as those of ws and to have names with them, so the DNS decides.
 */
const DISALLOWED =
  /(?!\u200c|\u200d)[^-.\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{L}\p{Nd}\p{Mn}\p{Mc}\u00b7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u3007\u30fb]|[\u0640\u07fa\u3031-\u3035\u303b\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7c6\ud7cb-\ud7fb]|[\u302e\u302f]|[\u20d0-\u20ff]|[\u{1d100}-\u{1d24f}]/u;

/** Characters with contextual rules (CONTEXTO of RFC 5892). */
const CONTEXTO = /[\u00b7\u0375\u05f3\u05f4\u0660-\u0669\u06f0-\u06f9\u30fb]/;

/** Violations of the contextual rules (RFC 5892, A.3 to A.9). */
const CONTEXT_VIOLATIONS: readonly RegExp[] = [
  // The middle dot of Catalan, between two l.
  /(?<!l)\u00b7|\u00b7(?!l)/,
  // The Greek keraia before a letter, the Hebrew geresh and gershayim behind one.
  /\u0375(?!\p{Script=Greek})/u,
  /(?<!\p{Script=Hebrew})[\u05f3\u05f4]/u,
  // The Katakana middle dot among Japanese or Chinese.
  /^[^\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]*\u30fb[^\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]*$/u,
  // Digits of Arabic beside those of Persian and Urdu.
  /[\u0660-\u0669].*[\u06f0-\u06f9]|[\u06f0-\u06f9].*[\u0660-\u0669]/,
];

/** Returns whether all labels of a name, in lower case and NFKC, obey these rules. */
export function hasULabels(name: string): boolean {
  if (DISALLOWED.test(name)) return false;
  return (
    !CONTEXTO.test(name) ||
    name.split(".").every((label) => !CONTEXT_VIOLATIONS.some((rule) => rule.test(label)))
  );
}
