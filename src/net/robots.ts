/** The rules of a robots.txt for one agent. */
export type RobotsRules = readonly RobotsRule[];

type RobotsRule = { readonly pattern: string; readonly allows: boolean };

/** The bytes of a robots.txt that are fetched, and the characters that are read. */
export const ROBOTS_LENGTH_MAX = 65_536;

/** Rules that are kept, and the length of a path that is matched: with both at their most, a match takes 2 ms. */
export const ROBOTS_RULES_MAX = 500;
const PATH_LENGTH_MAX = 2048;

/** Returns the first 500 rules of a robots.txt for an agent (RFC 9309), of its first 64 KB. */
export function robotsRules(text: string, agent: string): RobotsRules {
  let applies = false;
  let inRules = false;
  const rules: RobotsRule[] = [];
  for (const line of text.slice(0, ROBOTS_LENGTH_MAX).split(/\r\n?|\n/)) {
    const [, name = "", value = ""] = /^\s*([a-z-]+)\s*:\s*([^#]*)/i.exec(line) ?? [];
    const field = name.toLowerCase();
    const rule = value.trim();
    if (field === "user-agent") {
      if (inRules) applies = false;
      inRules = false;
      // Some files append a version to the name.
      const [named = ""] = rule.split("/", 1);
      applies ||= named.trim().toLowerCase() === agent.toLowerCase();
    } else if (field === "allow" || field === "disallow") {
      inRules = true;
      if (applies && rule !== "" && rules.length < ROBOTS_RULES_MAX)
        rules.push({ pattern: rule, allows: field === "allow" });
    }
  }
  return rules;
}

/**
 * Whether the rules disallow a path: the longest match decides, `Allow` wins a tie. A path of more than 2,048 characters
 * is not matched: it is disallowed where any path is.
 */
export function isDisallowed(rules: RobotsRules, path: string): boolean {
  if (path.length > PATH_LENGTH_MAX) return rules.some(({ allows }) => !allows);
  let best: RobotsRule | null = null;
  for (const rule of rules) {
    const length = rule.pattern.length - (best?.pattern.length ?? 0);
    if ((length > 0 || (length === 0 && rule.allows)) && isMatched(rule.pattern, path)) best = rule;
  }
  return best !== null && !best.allows;
}

/** Whether a path matches a rule as a prefix; `*` matches anything, a final `$` the end. */
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

/** Returns the part of a URL that rules are matched against. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
