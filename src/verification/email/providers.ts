import tableText from "./data/providers.txt" with { type: "text" };

/** Which spellings of a local part reach one mailbox: the cases of normalisation.ts. */
export type NormalisationRule = "keep" | "plus" | "gmail" | "yahoo" | "proton" | "yandex" | "fastmail";

export type Provider = {
  readonly name: string;
  /** `mailbox`: anyone may open one; `relay`: forwards to a mailbox it hides; `company`: its staff's own mail. */
  readonly kind: "mailbox" | "relay" | "company";
  readonly rule: NormalisationRule;
  /** Local parts of digits alone are usual: phone or account numbers. */
  readonly numericNames: boolean;
  /** Subdomains belong to the provider too. */
  readonly subdomains: boolean;
};

/** A domain worth suggesting where it is misspelled, with a rough share of use, 1 to 100. */
export type TypoTarget = { readonly domain: string; readonly weight: number };

type Table = { readonly providers: ReadonlyMap<string, Provider>; readonly targets: readonly TypoTarget[] };

const table: Table = readTable(tableText);

const MAJOR_WEIGHT_MIN = 2;

const majors: ReadonlySet<string> = new Set(
  table.targets.filter(({ weight }) => weight >= MAJOR_WEIGHT_MIN).map(({ domain }) => domain),
);

function readTable(text: string): Table {
  const providers = new Map<string, Provider>();
  const targets: TypoTarget[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [name = "", kind = "", rule = "", marks = "", domains = ""] = line.split("\t");
    const provider: Provider = {
      name,
      kind: kind as Provider["kind"],
      rule: rule as NormalisationRule,
      numericNames: marks.includes("numeric"),
      subdomains: marks.includes("subdomains"),
    };
    for (const entry of domains.split(" ")) {
      const [domain = "", weight] = entry.split("=");
      providers.set(domain, provider);
      if (weight !== undefined) targets.push({ domain, weight: Number(weight) });
    }
  }
  return { providers, targets: targets.sort((a, b) => b.weight - a.weight) };
}

/** Returns the provider of a domain, or of a parent domain whose subdomains belong to the provider too. */
export function providerOf(domain: string): Provider | undefined {
  const exact = table.providers.get(domain);
  if (exact !== undefined) return exact;
  const last = domain.lastIndexOf(".");
  for (let dot = domain.indexOf("."); dot < last; dot = domain.indexOf(".", dot + 1)) {
    const parent = table.providers.get(domain.slice(dot + 1));
    if (parent?.subdomains === true) return parent;
  }
  return undefined;
}

/** Returns every domain of the table with its provider. */
export function allProviders(): ReadonlyMap<string, Provider> {
  return table.providers;
}

/** Returns the targets by descending weight. */
export function typoTargets(): readonly TypoTarget[] {
  return table.targets;
}

/** Returns whether the domain is that of a large provider, which is there to stay. */
export function isMajorProvider(domain: string): boolean {
  return majors.has(domain);
}
