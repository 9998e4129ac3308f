/** Returns a CSV with `rows` rows over the domains of the test DNS, one in ten a duplicate of an earlier one. */
export function listCsv(rows: number): string {
  const domains = ["good.com", "null.com", "implicit.com", "gmail.com", "a.many.com"];
  const lines = ["name,email"];
  for (let at = 0; at < rows; at++) {
    const number = at % 10 === 9 ? at - 9 : at;
    lines.push(`Name ${at},user.${number}@${domains[number % domains.length]}`);
  }
  return `${lines.join("\n")}\n`;
}
