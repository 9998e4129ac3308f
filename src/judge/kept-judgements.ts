import { createPlaceIndex } from "./place-index.ts";

/** A judgement on the wire. */
export type CheckText = {
  /** JSON, in ASCII. */
  readonly text: string;
  /** The entity tag of the text, of `TAG_LENGTH` characters. */
  readonly tag: string;
};

/** A cache of judgements by resource, and by the exact URLs of the calls. */
export type KeptJudgements = {
  /** Returns the judgement for a URL of a call; null without one, or past its TTL. */
  readonly ofCall: (asked: string, nowMs: number) => CheckText | null;
  readonly ofResource: (resource: string, nowMs: number) => CheckText | null;
  /** Keeps a judgement in place of the former one of its resource, in all its spellings. */
  readonly keep: (resource: string, asked: string, judgement: CheckText, madeMs: number) => void;
  /** Answers calls of this address with the judgement of a resource from now on. */
  readonly name: (asked: string, resource: string) => void;
  readonly forget: (resource: string) => void;
  readonly clear: () => void;
  /** Bytes of all cached texts, with the URLs of their calls. */
  readonly bytes: () => number;
};

export type KeptJudgementsOptions = {
  readonly bytesMax: number;
  readonly callsMax: number;
  /** How long a judgement is good. */
  readonly heldMs: number;
};

export const TAG_LENGTH = 15;
/** Longer addresses are answered by their resource: a query may be spelt in endless ways. */
const CALL_LENGTH_MAX = 512;
/** Of one resource, each with a text of its own: the others do not evict the resources that nobody spells anew. */
const SPELLINGS_MAX = 4;
/** No address holds one. */
const ADDRESS_END = "\n";
const ADDRESS_END_CODE = 10;

/**
 * Keeps a bounded number of bytes, and of calls; the oldest is evicted first. Of tens of thousands, none of what answers a
 * call lies in a cache of the processor, and to fetch it from each place takes hundreds of instructions: so address, tag
 * and text of a call are one string, and what leads there is small.
 */
export function createKeptJudgements({ bytesMax, callsMax, heldMs }: KeptJudgementsOptions): KeptJudgements {
  /** By place: address, tag and text; empty where nothing is held. */
  const records = new Array<string>(callsMax).fill("");
  const resources = new Array<string>(callsMax).fill("");
  const addressLengths = new Uint16Array(callsMax);
  const madeAtMs = new Float64Array(callsMax);
  /** Whether the judgement is held at other places, too. */
  const isShared = new Uint8Array(callsMax);
  const placesOf = new Map<string, readonly number[]>();
  const index = createPlaceIndex(callsMax, isOf);
  /** Places are given out in turn. These count how many were, and how many were taken back. */
  let given = 0;
  let takenBack = 0;
  /** Of those that were given before this many, none is good any more. */
  let outdated = 0;
  let bytes = 0;

  function isOf(place: number, address: string): boolean {
    const record = records[place] ?? "";
    return record.startsWith(address) && record.charCodeAt(address.length) === ADDRESS_END_CODE;
  }

  /** Texts are made in turn, too, so that none has to be asked how old it is. */
  function outdate(nowMs: number): void {
    if (outdated < takenBack) outdated = takenBack;
    for (; outdated < given; outdated += 1) {
      const place = outdated % callsMax;
      if (nowMs - (madeAtMs[place] ?? 0) < heldMs) return;
      if (isShared[place] === 1) forget(resources[place] ?? "");
    }
  }

  function isGood(place: number): boolean {
    const last = given % callsMax;
    return given - last + place - (place < last ? 0 : callsMax) >= outdated;
  }

  function read(place: number, addressLength: number): CheckText {
    const record = records[place] ?? "";
    const tagAt = addressLength + ADDRESS_END.length;
    return { tag: record.slice(tagAt, tagAt + TAG_LENGTH), text: record.slice(tagAt + TAG_LENGTH) };
  }

  function drop(place: number): void {
    const resource = resources[place] ?? "";
    const record = records[place] ?? "";
    if (record === "") return;
    index.remove(record.slice(0, addressLengths[place]), place);
    bytes -= record.length;
    records[place] = "";
    resources[place] = "";
    const others = (placesOf.get(resource) ?? []).filter((other) => other !== place);
    if (others.length > 0) placesOf.set(resource, others);
    else placesOf.delete(resource);
  }

  function dropOldest(): void {
    drop(takenBack % callsMax);
    takenBack += 1;
  }

  function add(resource: string, asked: string, { tag, text }: CheckText, madeMs: number): void {
    const address = asked.length > CALL_LENGTH_MAX ? "" : asked;
    if (given - takenBack === callsMax) dropOldest();
    const place = given % callsMax;
    given += 1;
    const record = `${address}${ADDRESS_END}${tag}${text}`;
    records[place] = record;
    // The engine puts the parts together once somebody looks at them: now, and not in the first call.
    addressLengths[place] = record.indexOf(ADDRESS_END);
    resources[place] = resource;
    madeAtMs[place] = madeMs;
    bytes += record.length;
    const others = placesOf.get(resource) ?? [];
    for (const at of others) isShared[at] = 1;
    isShared[place] = others.length > 0 ? 1 : 0;
    placesOf.set(resource, [...others, place]);
    if (address !== "") drop(index.add(address, place));
    while (bytes > bytesMax && takenBack < given) dropOldest();
  }

  function forget(resource: string): void {
    for (const place of placesOf.get(resource) ?? []) drop(place);
  }

  return {
    ofCall(asked, nowMs) {
      outdate(nowMs);
      const place = index.find(asked);
      return place === -1 || !isGood(place) ? null : read(place, asked.length);
    },
    ofResource(resource, nowMs) {
      outdate(nowMs);
      const [place] = placesOf.get(resource) ?? [];
      return place === undefined || !isGood(place) ? null : read(place, addressLengths[place] ?? 0);
    },
    keep(resource, asked, judgement, madeMs) {
      forget(resource);
      add(resource, asked, judgement, madeMs);
    },
    name(asked, resource) {
      const places = placesOf.get(resource) ?? [];
      const [place] = places;
      if (place === undefined || places.length >= SPELLINGS_MAX) return;
      if (asked.length > CALL_LENGTH_MAX || index.find(asked) !== -1) return;
      add(resource, asked, read(place, addressLengths[place] ?? 0), madeAtMs[place] ?? 0);
    },
    forget,
    clear() {
      // Of a whole directory, which is not to be held up by what goes one by one.
      records.fill("");
      resources.fill("");
      placesOf.clear();
      index.clear();
      takenBack = given;
      bytes = 0;
    },
    bytes: () => bytes,
  };
}
