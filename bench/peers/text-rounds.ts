import { validateDocument } from "../../src/verification/documents/registry.ts";
import { readCountry } from "../../src/verification/phone/region.ts";
import { validatePhone } from "../../src/verification/phone/validation.ts";
import { type Figure, overRounds } from "../result.ts";
import { documentCorpus, type PhoneCase, phoneCorpus, plainPhoneCorpus } from "../vector-input.ts";
import { documentPeers, phonePeers } from "./text-peers.ts";

const SEED = 11;
const ROUNDS = 5;

/** One implementation over a list of items: how many it gets right, timed by itself. */
type Contender = {
  readonly group: string;
  readonly name: string;
  readonly isOurs: boolean;
  readonly items: number;
  /** Goes over all items once and counts the right answers. */
  readonly pass: () => number;
};

/** Documents and phone numbers, ours and the peers by turns, with the share of right answers of each. */
export async function measureTexts(scale: number): Promise<Figure[]> {
  const contenders = [...(await documentContenders()), ...(await phoneContenders())];
  for (const { name, isOurs, items, pass } of contenders) {
    if (isOurs && pass() !== items) throw new Error(`${name} has wrong answers`);
  }
  const times = new Map<Contender, number[]>(contenders.map((one) => [one, []]));
  const roundMs = 120 * scale;
  for (let round = 0; round <= Math.max(1, Math.round(ROUNDS * scale)); round += 1) {
    for (const contender of contenders) {
      const perSecond = timed(contender, roundMs);
      // The first round is for warming up.
      if (round > 0) times.get(contender)?.push(perSecond);
    }
  }
  return contenders.map((contender) => ({
    name: `${contender.group}: ${contender.name} (${Math.round((contender.pass() / contender.items) * 100)} % right)`,
    group: "documents and phone numbers, on the vectors of our tests",
    unit: "checks/s",
    better: contender.isOurs ? "higher" : "neither",
    ...overRounds(times.get(contender) ?? []),
  }));
}

function timed({ items, pass }: Contender, roundMs: number): number {
  const startedMs = performance.now();
  let passes = 0;
  let right = 0;
  do {
    right += pass();
    passes += 1;
  } while (performance.now() - startedMs < roundMs);
  if (right < 0) throw new Error("No answers");
  return ((passes * items) / (performance.now() - startedMs)) * 1000;
}

async function documentContenders(): Promise<Contender[]> {
  const cases = await documentCorpus({ seed: SEED, countPerType: 500 });
  const byType = Map.groupBy(cases, (one) => one.type);
  return [...byType].flatMap(([type, items]) => {
    const contender = (name: string, isOurs: boolean, isValid: (value: string) => boolean): Contender => ({
      group: type,
      name,
      isOurs,
      items: items.length,
      pass: () => items.filter(({ value, valid }) => isValid(value) === valid).length,
    });
    return [
      contender("Assay", true, (value) => validateDocument(type, value).valid),
      ...(documentPeers[type] ?? []).map(({ name, isValid }) => contender(name, false, isValid)),
    ];
  });
}

async function phoneContenders(): Promise<Contender[]> {
  return [
    ...phoneContendersOver("phone", await phoneCorpus({ seed: SEED, count: 500 })),
    ...phoneContendersOver("phone, plain forms", await plainPhoneCorpus({ seed: SEED, count: 500 })),
  ];
}

function phoneContendersOver(group: string, corpus: readonly PhoneCase[]): Contender[] {
  const cases = corpus.map((one) => {
    const region = one.country === null ? undefined : (readCountry(one.country) ?? undefined);
    return {
      ...one,
      region,
      iso: /^[a-z]{2}$/i.test(one.country ?? "") ? one.country?.toUpperCase() : undefined,
    };
  });
  const fair = cases.filter(({ country, iso }) => country === null || iso !== undefined);
  const contender = (
    name: string,
    isOurs: boolean,
    e164: (one: (typeof fair)[number]) => string | null,
  ): Contender => ({
    group,
    name,
    isOurs,
    items: fair.length,
    pass: () => fair.filter((one) => e164(one) === one.e164).length,
  });
  return [
    contender("Assay", true, ({ text, region }) => validatePhone(text, region).e164),
    ...phonePeers.map(({ name, e164 }) => contender(name, false, ({ text, iso }) => e164(text, iso))),
  ];
}
