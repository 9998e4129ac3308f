import type { PhoneType } from "../../contract/words.ts";
import carrierText from "./data/carriers.txt" with { type: "text" };
import portableText from "./data/portable-regions.txt" with { type: "text" };
import timezoneText from "./data/timezones.txt" with { type: "text" };
import { decodePrefixTable } from "./prefix-table.ts";

/**
 * Calling codes whose mobile numbers begin with an area code too: MX AR BR ID CN, as in libphonenumber; and
 * the two great shared ones, where the first digits at least show the country.
 */
const MOBILE_WITH_AREA_CODE = new Set(["52", "54", "55", "62", "86", "1", "7"]);

/** Kinds of number that are allocated to mobile carriers. */
const OF_CARRIERS: ReadonlySet<PhoneType> = new Set<PhoneType>(["mobile", "fixed_line_or_mobile", "pager"]);

// The tables are constant; they are decoded when first asked for, once in each thread.
const timezoneTable = once(() => decodePrefixTable(timezoneText));
const carrierTable = once(() => decodePrefixTable(carrierText));
const portableRegions = once(
  () => new Set(portableText.split("\n").filter((line) => /^[A-Z]{2}$/.test(line))),
);

/** A list of time zones, and its JSON in bytes. The list is not frozen: that makes its JSON four times slower. */
export type Zones = { readonly list: readonly string[]; readonly json: Uint8Array };

const NO_ZONES = zonesOf([]);

function zonesOf(list: readonly string[]): Zones {
  return { list, json: new TextEncoder().encode(JSON.stringify(list)) };
}

/**
 * Time zones of a valid number, given with its calling code: of its area where the number is tied to one,
 * else of all the countries of its calling code.
 */
export function timezonesOf(digits: string, callingCode: string, type: PhoneType): Zones {
  const tiedToArea =
    type === "fixed_line" ||
    type === "fixed_line_or_mobile" ||
    (type === "mobile" && MOBILE_WITH_AREA_CODE.has(callingCode));
  const zones = timezoneTable()(tiedToArea ? digits : callingCode);
  return zones === undefined ? NO_ZONES : zonesIn(zones);
}

/** Lists that were split before, one for each value of the table. */
const knownZones = new Map<string, Zones>();

function zonesIn(zones: string): Zones {
  const known = knownZones.get(zones);
  if (known !== undefined) return known;
  const made = zonesOf(zones.split("&"));
  knownZones.set(zones, made);
  return made;
}

/**
 * The carrier to which a valid number was first allocated. Null where the country lets numbers move between
 * carriers: there the allocation says nothing of today.
 */
export function originalCarrierOf(
  digits: string,
  country: string | undefined,
  type: PhoneType,
): string | null {
  if (!OF_CARRIERS.has(type)) return null;
  if (country !== undefined && portableRegions().has(country)) return null;
  return carrierTable()(digits) ?? null;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
