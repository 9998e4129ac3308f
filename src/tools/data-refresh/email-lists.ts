import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import disposableEmailDomainsPackage from "disposable-email-domains-js/package.json" with { type: "json" };
import emailProvidersPackage from "email-providers/package.json" with { type: "json" };
import fakefilterPackage from "fakefilter/package.json" with { type: "json" };
import { blacklist } from "mailchecker";
import mailcheckerPackage from "mailchecker/package.json" with { type: "json" };
import roleAccountsPackage from "role-based-email-addresses/package.json" with { type: "json" };
import { parse as parseHost } from "tldts";
import servicesText from "../../domains/data/throwaway-services.txt" with { type: "text" };
import { allProviders } from "../../verification/email/providers.ts";
import { suggestDomain } from "../../verification/email/suggestion.ts";
import type { GeneratedTable } from "./generated-table.ts";

export const tables: readonly GeneratedTable[] = [
  { path: "src/verification/email/data/role-accounts.txt", build: roleAccounts },
  { path: "src/domains/data/disposable-domains.txt", build: disposableDomains },
  { path: "src/domains/data/free-domains.txt", build: freeDomains },
  { path: "src/domains/data/fakefilter-license.txt", build: () => packageText("fakefilter/LICENSE.md") },
];

/**
 * Entries that are no role: years and keyboard play, places, short codes that are a person's initials as often,
 * and words that are given names somewhere.
 */
const NO_ROLES = new Set(
  `123 aaa abc asd asda asdasd asdf com none null random smile test testgroup testing automated.testing
  berlin boston ca caltrain chicago china denver europe france india latam london montreal newyork northamerica ny nyc
  nyoffice paris sanfrancisco seattle sf singapore sydney uk us usa lt la lab mt
  cm gm hi no pd ta elvis gardner infor
  alexa alla alpha alphas arin ask asset dev general head job mentor per reg sem server`.split(/\s+/),
);

function roleAccounts(): string {
  const accounts = createRequire(import.meta.url)("role-based-email-addresses") as readonly string[];
  const kept = accounts
    .map((account) => account.toLowerCase())
    .filter((account) => !/^\d+$/.test(account) && !NO_ROLES.has(account));
  const { version } = roleAccountsPackage;
  return [
    `# role-based-email-addresses ${version} (Mixmax), MIT. Without years, places, play and given names.`,
    ...sorted(kept),
    "",
  ].join("\n");
}

async function disposableDomains(): Promise<string> {
  return [
    `# disposable-email-domains-js ${disposableEmailDomainsPackage.version}, CC0-1.0;`,
    `# fakefilter ${fakefilterPackage.version}, (c) 2022 7c, BSD-3-Clause: its text is in fakefilter-license.txt;`,
    `# email-providers ${emailProvidersPackage.version}, ISC, where the name says so; throwaway-services.txt.`,
    ...sorted(await disposableEntries()),
    "",
  ].join("\n");
}

/** Throwaway services by their own name; a provider list has some of them among its free providers. */
function saysSo(domain: string): boolean {
  return /(?:^trash|\d-?minu?ten?s?n?-?e?mail|minute\.|temp(?:orary)?-?e?mail|e?mail-?temp|throw-?away|trash-?e?mail|mailinator|disposable-?e?mail|yopmail|wegwerf|fake-?e?mail|fakemyinbox|e?mail-?fake|spam(?:box|cannon|gourmet|trap|server)|(?:thetrash|junk)\.|jetable)/.test(
    domain,
  );
}

const services = servicesText
  .split("\n")
  .filter((line) => !line.startsWith("#"))
  .flatMap((line) => line.split(" "));

async function disposableEntries(): Promise<readonly string[]> {
  const curated = JSON.parse(
    await packageText("disposable-email-domains-js/dist/dict/disposable_email_blocklist.json"),
  ) as readonly string[];
  const live = JSON.parse(await packageText("fakefilter/json/data.json")) as {
    domains: Record<string, unknown>;
  };
  const listed = JSON.parse(await packageText("email-providers/all.json")) as readonly string[];
  return (
    [...curated, ...Object.keys(live.domains), ...listed.filter(saysSo), ...services]
      .map((domain) => domain.trim().toLowerCase())
      .filter((domain) => isListable(domain) && !allProviders().has(domain))
      // A misspelling that takes mail is reported as one: its writer meant another domain.
      .filter((domain) => suggestDomain(domain, "works") === null)
  );
}

/** Names on which no mail provider is: schools, places to fill in, firms known for something else. */
const NO_PROVIDERS = new Set(
  `alibaba.com ancestry.com discovery.com dnsmadeeasy.com doityourself.com example.com facebook.com mail-tester.com
  medscape.com mydomain.com name.com space.com techspot.com test.com test.de unican.es www.com yourdomain.com
  googlegroups.com localhost 1.com`.split(/\s+/),
);

async function freeDomains(): Promise<string> {
  // A list this wide calls some relays and providers throwaway: too wide for a verdict, wide enough for a doubt.
  const doubtful = new Set([...(await disposableEntries()), ...blacklist()]);
  const listed = JSON.parse(await packageText("email-providers/all.json")) as readonly string[];
  const kept = listed
    .map((domain) => domain.trim().toLowerCase())
    .filter((domain) => isListable(domain) && !allProviders().has(domain) && !NO_PROVIDERS.has(domain))
    .filter((domain) => !/\.(?:edu|ac|gov|mil)(?:\.[a-z]{2})?$/.test(domain))
    .filter((domain) => suggestDomain(domain, "unknown") === null)
    .filter((domain) => !parentsOf(domain).some((parent) => doubtful.has(parent)));
  return [
    `# email-providers ${emailProvidersPackage.version}, ISC. Without disposables, slips and the hand-kept providers,`,
    `# and without what mailchecker ${mailcheckerPackage.version}, MIT, calls throwaway.`,
    ...sorted(kept),
    "",
  ].join("\n");
}

function parentsOf(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join("."));
}

/** A public suffix would stand for everyone below it, and a name that is not ASCII or has no suffix is a slip. */
function isListable(domain: string): boolean {
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(domain)) return false;
  const name = parseHost(domain, { allowPrivateDomains: true });
  return name.domain !== null && name.publicSuffix !== domain;
}

function sorted(entries: readonly string[]): string[] {
  return [...new Set(entries)].sort();
}

function packageText(path: string): Promise<string> {
  return readFile(new URL(import.meta.resolve(path)), "utf8");
}
