/** Whether a robots.txt keeps an agent from a path (RFC 9309, longest rule first; `Allow` wins a tie). */
export function isDisallowed(text: string, agent: string, path: string): boolean {
  let applies = false;
  let inRules = false;
  let best: { readonly length: number; readonly allows: boolean } | null = null;
  for (const line of text.slice(0, 65_536).split(/\r\n?|\n/)) {
    const [, name = "", value = ""] = /^\s*([a-z-]+)\s*:\s*([^#]*)/i.exec(line) ?? [];
    const field = name.toLowerCase();
    const rule = value.trim();
    if (field === "user-agent") {
      if (inRules) applies = false;
      inRules = false;
      // Some write the version behind the name.
      applies ||= rule.replace(/\/.*$/, "").trim().toLowerCase() === agent.toLowerCase();
    } else if (field === "allow" || field === "disallow") {
      inRules = true;
      if (!applies || rule === "" || !isMatched(rule, path)) continue;
      const allows = field === "allow";
      if (best === null || rule.length > best.length || (rule.length === best.length && allows)) {
        best = { length: rule.length, allows };
      }
    }
  }
  return best !== null && !best.allows;
}

/** Whether a path begins as a rule says, in which `*` stands for anything, and a `$` behind it for the end. */
function isMatched(rule: string, path: string): boolean {
  const parts = rule.endsWith("$") ? rule.slice(0, -1).split("*") : [...rule.split("*"), ""];
  const last = parts.pop() ?? "";
  if (parts.length === 0) return path === last;
  let at = 0;
  for (const [place, part] of parts.entries()) {
    const found = place > 0 ? path.indexOf(part, at) : path.startsWith(part) ? 0 : -1;
    if (found === -1) return false;
    at = found + part.length;
  }
  return path.length - at >= last.length && path.endsWith(last);
}

/** Returns what the rules of a robots.txt are held against. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
