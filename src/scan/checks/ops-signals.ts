import { type Check, fail, pass, warn } from "../check.ts";
import { type Evidence, exchangeOf } from "../evidence.ts";

export const opsSignals: Check = {
  id: "ops.signals",
  title: "The service is looked after",
  weight: 1,
  expected: "two of: robots.txt that allows the paid paths, /health with 200, security.txt",
  fix: "Serve /health, /.well-known/security.txt and a robots.txt that allows the paid paths.",
  find(evidence) {
    const robots = exchangeOf(evidence, "robots");
    const text = robots?.status === 200 ? robots.body : "";
    if (disallowsAll(text)) return fail(robots, "robots.txt disallows everything");
    const security = exchangeOf(evidence, "security");
    const signs = [
      robots?.status === 200 && !/^\s*</.test(text) && allowsPaid(evidence, text),
      exchangeOf(evidence, "health")?.status === 200,
      security?.status === 200 && /^contact:/im.test(security.body),
    ].filter(Boolean).length;
    const observed = `${signs} of 3`;
    if (signs >= 2) return pass(robots, observed);
    return signs === 1 ? warn(robots, observed) : fail(robots, observed);
  },
};

/** Whether all paid resources may be read by those whom a robots.txt does not name. */
function allowsPaid({ resources }: Evidence, text: string): boolean {
  return resources.every(({ url }) => !isDisallowed(text, "*", pathOf(url)));
}

/** Returns what the rules of a robots.txt are held against. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function disallowsAll(text: string): boolean {
  return isDisallowed(text, "*", "/");
}

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
