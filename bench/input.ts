import { createRandom, type Random } from "./random.ts";

/** What is measured with: corpora made from a seed, each item with the answer that is right for it. */

export type AddressCase = {
  readonly text: string;
  readonly status: "deliverable" | "risky" | "undeliverable" | "unknown";
  readonly subStatus: string;
};

export type AddressCorpus = {
  readonly cases: readonly AddressCase[];
  /** The DNS that the answers hold in, as records of a master file with absolute names. */
  readonly zone: string;
};

/** As in lists of customers: many at few providers, the rest thinly over companies, and some of every trouble. */
type Kind = { readonly share: number; readonly make: (random: Random, domains: number) => AddressCase };

const GIVEN = [
  "anna ben carla daniel elena frank greta hans irene james karin lucas maria nina oscar paula quentin rosa",
  "simon tanja ulrich vera walter yvonne ahmed chen diego fatima hiroshi ines joao kofi lena mohammed olga",
]
  .join(" ")
  .split(" ");
const FAMILY = [
  "smith mueller garcia rossi martin silva kowalski novak jensen johansson dubois santos fischer weber costa",
  "romano moreau lopez jones taylor brown wilson nguyen tanaka sato kim park singh patel khan ali hassan",
]
  .join(" ")
  .split(" ");
const PROVIDERS = ["gmail.com", "yahoo.com", "outlook.com", "hotmail.com", "icloud.com", "aol.com", "gmx.de"];
const DISPOSABLES = ["mailinator.com", "guerrillamail.com", "yopmail.com"];
const ROLES = ["info", "support", "sales", "admin", "billing", "postmaster"];
/** Domains that are slips for large providers'. */
export const TYPOS = ["gmial.com", "gmai.com", "hotmial.com", "yaho.com", "outlok.com"];
const FAULTS = [
  "plainaddress",
  "a b@gmail.com",
  "john..doe@gmail.com",
  ".ann@gmail.com",
  "x@-a.com",
  "y@@gmail.com",
];

const KINDS: readonly Kind[] = [
  { share: 44, make: (random) => found(personal(random), random.pick(PROVIDERS)) },
  { share: 4, make: (random) => found(`${personal(random)}+news`, "gmail.com") },
  { share: 36, make: (random, domains) => found(personal(random), company(random, domains)) },
  {
    share: 4,
    make: (random, domains) => risky(random.pick(ROLES), company(random, domains), "role_account"),
  },
  { share: 3, make: (random) => risky(personal(random), random.pick(DISPOSABLES), "disposable") },
  { share: 2, make: (random) => dead(`${personal(random)}@${random.pick(TYPOS)}`, "domain_not_found") },
  {
    share: 2,
    make: (random) => dead(`${personal(random)}@gone-${random.below(400)}.com`, "domain_not_found"),
  },
  { share: 2, make: (random) => dead(random.pick(FAULTS), "invalid_syntax") },
  {
    share: 1,
    make: (random) => dead(`${personal(random)}@${random.pick(FAMILY)}.invalidtld`, "invalid_tld"),
  },
  { share: 1, make: (random) => dead(`${personal(random)}@null-${random.below(50)}.com`, "null_mx") },
  { share: 1, make: (random) => risky(personal(random), `implicit-${random.below(50)}.com`, "implicit_mx") },
];

/** Addresses over `domains` company domains and a handful of providers; a few in a hundred are repeats. */
export function addressCorpus(options: {
  readonly seed: number;
  readonly count: number;
  readonly domains: number;
}): AddressCorpus {
  const random = createRandom(options.seed);
  const byShare = KINDS.flatMap((kind) => Array.from({ length: kind.share }, () => kind));
  const cases: AddressCase[] = [];
  while (cases.length < options.count) {
    const repeat = cases.length > 50 && random.below(50) === 0;
    cases.push(repeat ? random.pick(cases) : random.pick(byShare).make(random, options.domains));
  }
  return { cases, zone: zoneOf(options.domains) };
}

/** An address at a domain that nobody asked for before: `n` makes each another. */
export function coldAddress(run: string, n: number): string {
  return `anna.smith@${coldDomain(run, n)}`;
}

/** A domain below a wildcard: every one of them exists. */
export function coldDomain(run: string, n: number): string {
  return `d${n}-${run}.cold.com`;
}

/** One address for each domain of the corpus: with them a cache is warmed. */
export function warmingAddresses(cases: readonly AddressCase[]): string[] {
  const byDomain = new Map(cases.map(({ text }) => [text.slice(text.lastIndexOf("@") + 1), text]));
  return [...byDomain.values()];
}

function personal(random: Random): string {
  const given = random.pick(GIVEN);
  const family = random.pick(FAMILY);
  const number = random.below(1000);
  return random.pick([`${given}.${family}${number}`, `${given}_${family}${number}`, `${given}${number}`]);
}

function company(random: Random, domains: number): string {
  return `company-${random.below(domains)}.com`;
}

function found(local: string, domain: string): AddressCase {
  return { text: `${local}@${domain}`, status: "deliverable", subStatus: "accepts_mail" };
}

function risky(local: string, domain: string, subStatus: string): AddressCase {
  return { text: `${local}@${domain}`, status: "risky", subStatus };
}

function dead(text: string, subStatus: string): AddressCase {
  return { text, status: "undeliverable", subStatus };
}

function zoneOf(domains: number): string {
  const lines = [". 3600 SOA ns.hosting.net. hostmaster.hosting.net. 1 3600 600 86400 3600"];
  const record = (name: string, data: string) => lines.push(`${name}. 3600 ${data}`);
  lines.push(". 3600 NS ns.hosting.net.");
  record("ns.hosting.net", "A 8.8.8.8");
  for (const host of ["mx1.hosting.net", "mx2.hosting.net"]) record(host, "A 8.8.4.4");
  const exchangers = (name: string) => {
    record(name, "MX 10 mx1.hosting.net.");
    record(name, "MX 20 mx2.hosting.net.");
  };
  for (const name of [...PROVIDERS, ...DISPOSABLES, "*.cold.com"]) exchangers(name);
  for (let n = 0; n < domains; n += 1) exchangers(`company-${n}.com`);
  for (let n = 0; n < 50; n += 1) {
    record(`null-${n}.com`, "MX 0 .");
    record(`implicit-${n}.com`, "A 8.8.8.8");
  }
  return `${lines.join("\n")}\n`;
}
