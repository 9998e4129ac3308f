/** What no local part without quotes has: a display name, an address in brackets, several lines. */
const NO_LOCAL = /["(),:;<>@[\\\]\p{Cc}]/u;

/**
 * In a query a `+` arrives as a space. A lone space in a local part, or at its end, can only have been one:
 * `john news@example.com` was `john+news@example.com`.
 */
export function restorePlus(email: string): string {
  if (!email.includes(" ")) return email;
  const at = email.lastIndexOf("@");
  if (at === -1) return email;
  const start = email.length - email.trimStart().length;
  const local = email.slice(start, at);
  if (NO_LOCAL.test(local)) return email;
  return email.slice(0, start) + local.replace(/(?<=\S) (?=\S|$)/g, "+") + email.slice(at);
}

/**
 * A lone space where a phone number begins, before a digit, was a `+`: at the start of the text, after an opening
 * bracket or `tel:`, and after `phone-context=`.
 */
export function restorePlusOfPhone(phone: string): string {
  return phone.replace(/^(\(|tel:)? (?=\d)/i, "$1+").replace(/(;phone-context=) (?=\d)/i, "$1+");
}
