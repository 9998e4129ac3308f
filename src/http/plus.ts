/**
 * In a query a `+` arrives as a space. A lone space in a local part can only have been one:
 * `john news@example.com` was `john+news@example.com`.
 */
export function restorePlus(email: string): string {
  const at = email.lastIndexOf("@");
  if (at === -1) return email;
  const start = email.length - email.trimStart().length;
  const local = email.slice(start, at).replace(/(?<=\S) (?=\S)/g, "+");
  return email.slice(0, start) + local + email.slice(at);
}

/** A phone number that begins with a lone space before a digit began with `+`. */
export function restorePlusOfPhone(phone: string): string {
  return /^ \d/.test(phone) ? `+${phone.slice(1)}` : phone;
}
