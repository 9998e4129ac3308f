import type { MailExchange } from "../dns/lookup.ts";
import type { MailExchangers } from "../verification/email/domain-facts.ts";
import type { MailHost } from "./mail-hosts.ts";

/** The exchangers that are reported: more than any sender tries. */
const HOSTS_MAX = 64;
/** Characters of all reported names, which go to a thread and into each result: 64 of the longest take 16 KB. */
const HOSTS_CHARACTERS_MAX = 4_096;

/** Returns each host once, by preference. Equal ones are sorted by name, as servers rotate them. */
export function hostsByPreference(records: readonly MailExchange[]): readonly string[] {
  const sorted = records.length === 1 ? records : [...records].sort(byPreference);
  const hosts: string[] = [];
  let characters = 0;
  for (const { exchange } of sorted) {
    if (exchange === "." || hosts.includes(exchange)) continue;
    characters += exchange.length;
    if (hosts.length === HOSTS_MAX || characters > HOSTS_CHARACTERS_MAX) break;
    hosts.push(exchange);
  }
  return hosts;
}

function byPreference(a: MailExchange, b: MailExchange): number {
  return a.preference - b.preference || (a.exchange < b.exchange ? -1 : a.exchange > b.exchange ? 1 : 0);
}

function isUseless({ reach }: MailHost): boolean {
  return reach === "dead" || reach === "private" || reach === "literal";
}

/** No mail reaches it, or that is not known. */
export function isUnusable(host: MailHost): boolean {
  return isUseless(host) || isNotAsked(host);
}

/** The query allowance was used up before it. */
export function isNotAsked({ reach }: MailHost): boolean {
  return reach === "not_asked";
}

/** Returns what is reported of resolved exchangers, of which there is at least one. */
export function summarize(
  hosts: readonly MailHost[],
): Pick<MailExchangers, "targets" | "cname" | "partlyDead"> {
  const cname = hosts.some(({ alias }) => alias);
  if (hosts.every(({ reach }) => reach === "public")) return { targets: "public", cname, partlyDead: false };
  const reaches = new Set(hosts.map(({ reach }) => reach));
  return { targets: bestTarget(reaches), cname, partlyDead: reaches.has("public") && hosts.some(isUseless) };
}

function bestTarget(reaches: ReadonlySet<MailHost["reach"]>): MailExchangers["targets"] {
  if (reaches.has("public")) return "public";
  if (reaches.has("timeout") || reaches.has("error") || reaches.has("not_asked")) return "unknown";
  if (reaches.has("literal")) return "literal";
  return reaches.has("private") ? "private" : "dead";
}
