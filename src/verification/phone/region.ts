import { countriesOf, isCallingCode, isCountry } from "./parse.ts";
import type { PhoneRegion } from "./phone-number.ts";

/** Countries of ISO 3166 without a numbering plan: national numbers cannot be parsed for them. */
const WITHOUT_PLAN = new Set(["AQ", "BV", "GS", "HM", "PN", "TF", "UM"]);

/**
 * Reads the country that a caller names: ISO 3166 alpha-2 in any case, or a calling code with or without
 * `+`. Null where it is neither, or contains a control character.
 *
 * @example readCountry("br") // { country: "BR" }
 * @example readCountry("+55") // { country: "BR" }
 * @example readCountry("1") // { callingCode: "1" }: the area code decides the country
 */
export function readCountry(text: string): PhoneRegion | null {
  const bare = text.length > 16 || /\p{Cc}/u.test(text) ? "" : text.trim();
  const code = /^[a-z]{2}$/i.test(bare) ? bare.toUpperCase() : "";
  if (isCountry(code) || WITHOUT_PLAN.has(code)) return { country: code };
  const digits = bare.startsWith("+") ? bare.slice(1) : bare;
  if (!isCallingCode(digits)) return null;
  const [country, another] = countriesOf(digits);
  return country === undefined || another !== undefined ? { callingCode: digits } : { country };
}

/** Returns the region, undefined where it has no numbering plan. */
export function planRegion(region: PhoneRegion | undefined): PhoneRegion | undefined {
  return region !== undefined && "country" in region && WITHOUT_PLAN.has(region.country) ? undefined : region;
}
