import { createEmailWriter } from "../../src/batch/written-email.ts";
import { createAddressParser, parseAddress } from "../../src/verification/email/address.ts";
import type { DomainFacts } from "../../src/verification/email/domain-facts.ts";
import { type DomainVerdict, verifyDomain } from "../../src/verification/email/domain-verdict.ts";
import { createAddressVerifier } from "../../src/verification/email/verification.ts";
import type { Evaluation } from "./evaluation.ts";

const ADDRESSES = 100_000;
const COMPANIES = 5_000;
const ROUNDS = 5;

const LOCALS =
  "john.doe mary_smith+news info xk7qz9vw2p j.k.rowling support o'neil sandra1985 marketing-team jörg".split(
    " ",
  );
const PROVIDERS = "gmail.com yahoo.com hotmail.com outlook.com icloud.com".split(" ");
const FAULTS = [
  "a b@example.com",
  "x@gmial.con",
  "y@acme.con",
  "plain",
  "q..w@gmail.com",
  "z@hotmial.com",
  "info@mailinator.com",
  "jörg@müller.de",
];

const encoder = new TextEncoder();

/** Shows how quickly addresses are read and judged on one thread; a busy machine makes no target fail. */
export async function evaluateSpeed(): Promise<Evaluation> {
  const addresses = mixedAddresses();
  const domainVerdicts = new Map<string, DomainVerdict>();
  const parser = createAddressParser();
  const verdictOf = (text: string): DomainVerdict | undefined => {
    const domain = parser.mailDomainOf(text);
    if (domain === null) return undefined;
    let domainVerdict = domainVerdicts.get(domain);
    if (domainVerdict === undefined) {
      domainVerdict = verifyDomain(factsOf(domain));
      domainVerdicts.set(domain, domainVerdict);
    }
    return domainVerdict;
  };
  const verify = createAddressVerifier();
  const judge = (text: string) => verify(text, verdictOf(text));
  const write = createEmailWriter(verify);
  const written = (text: string) => encoder.encode(write(text, verdictOf(text)).json);
  return {
    lines: [
      `speed, the best of ${ROUNDS} rounds over ${ADDRESSES} mixed addresses`,
      `  read an address: ${shown(best(addresses, (text) => parseAddress(text).ok))}`,
      `  read an address, domains remembered: ${shown(best(addresses, (text) => parser.parse(text).ok))}`,
      `  judge an address: ${shown(best(addresses, (text) => judge(text).score > 0))}`,
      `  judge an address and write its JSON: ${shown(best(addresses, (text) => written(text).length > 0))}`,
    ],
    ok: true,
  };
}

function mixedAddresses(): string[] {
  return Array.from({ length: ADDRESSES }, (_, at) => {
    if (at % 20 === 0) return FAULTS[(at / 20) % FAULTS.length] ?? "";
    const local = LOCALS[at % LOCALS.length] ?? "";
    const domain = at % 2 === 0 ? PROVIDERS[at % PROVIDERS.length] : `company-${at % COMPANIES}.com`;
    return `${local}${at % 7}@${domain}`;
  });
}

function factsOf(domain: string): DomainFacts {
  const marks = { targets: "public", cname: false, partlyDead: false, nullMixed: false } as const;
  return {
    domain,
    mail: { state: "mx", hosts: [`mx1.${domain}`, `mx2.${domain}`], ...marks },
    lists: {
      disposable: domain === "mailinator.com" ? "listed" : null,
      freeProvider: PROVIDERS.includes(domain),
    },
  };
}

function best(texts: readonly string[], work: (text: string) => boolean): number {
  let least = Number.POSITIVE_INFINITY;
  let done = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (const text of texts) if (work(text)) done++;
    least = Math.min(least, performance.now() - start);
  }
  if (done === 0) throw new Error("nothing was done");
  return least / texts.length;
}

function shown(ms: number): string {
  return `${(ms * 1e3).toFixed(2)} us, ${Math.round(1e3 / ms).toLocaleString("en")} a second`;
}
