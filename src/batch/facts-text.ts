import type { DomainFactsSource } from "../domains/facts.ts";
import type { FactsText } from "./runner.ts";

/** Gathers the facts of a chunk's domains as JSON lines, looking up at most `lookupsMax` domains at a time. */
export function createFactsText(source: DomainFactsSource, lookupsMax: number): FactsText {
  return async (domains, options) => {
    const lines: string[] = [];
    const unknown: string[] = [];
    for (const domain of domains.split("\n")) {
      const known = source.knownDomain(domain, options);
      if (known === undefined) unknown.push(domain);
      else lines.push(known.json);
    }
    const lookUpInTurn = async () => {
      for (let domain = unknown.pop(); domain !== undefined; domain = unknown.pop()) {
        lines.push((await source.findDomain(domain, options)).json);
      }
    };
    await Promise.all(Array.from({ length: Math.min(lookupsMax, unknown.length) }, lookUpInTurn));
    return lines.join("\n");
  };
}
