/** Whether the caller holds one of these tags; weak comparison, as If-None-Match asks for. */
export function isCurrent(request: Request, ...tags: readonly string[]): boolean {
  const held = request.headers.get("if-none-match");
  if (held === null) return false;
  const opaque = tags.map((tag) => tag.replace(/^W\//, ""));
  return held.split(",").some((tag) => {
    const text = tag.trim();
    return text === "*" || opaque.includes(text.replace(/^W\//, ""));
  });
}

/** The weight that a header of choices gives to a name: that of the most exact range that holds it, 0 where none does. */
export function weightOf(header: string, name: string): number {
  const ranges = [name, `${name.split("/")[0]}/*`, "*/*", "*"];
  let best = { place: ranges.length, weight: 0 };
  for (const part of header.toLowerCase().split(",")) {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim());
    const place = ranges.indexOf(range);
    if (place < 0 || place >= best.place) continue;
    const q = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const weight = q === undefined ? 1 : Number(q);
    best = { place, weight: Number.isNaN(weight) ? 0 : weight };
  }
  return best.weight;
}
