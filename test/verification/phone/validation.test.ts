import { describe, expect, test } from "bun:test";
import { checkFailed } from "../../../src/verification/phone/phone-number.ts";
import { validatePhone } from "../../../src/verification/phone/validation.ts";
import { quickestMs } from "../../support/duration.ts";
import { readVectors, regionOf } from "./vectors.ts";

const published = [...(await readVectors("published.txt")), ...(await readVectors("mobile-examples.txt"))];
const extensions = await readVectors("extensions.txt");
const vanity = await readVectors("vanity.txt");
const invalid = await readVectors("invalid.txt");
const national = await readVectors("national.txt");
const places = await readVectors("places.txt");

describe("a valid number", () => {
  test.each(published)("%j dialled in %s is %s of %s, %s", (text = "", region = "-", e164, country, type) => {
    const result = validatePhone(text, regionOf(region));
    expect(result).toMatchObject({ phone: text, valid: true, possible: true, reason: null, vanity: false });
    expect([result.e164, result.country, result.type]).toEqual([e164 ?? "", country ?? "", type as never]);
    expect(result.is_non_geographic).toBe(country === "001");
  });

  test("has every written form, with the extension in all but E.164", () => {
    expect(validatePhone("(212) 555-0100 ext. 12", { country: "US" })).toEqual({
      phone: "(212) 555-0100 ext. 12",
      valid: true,
      possible: true,
      reason: null,
      e164: "+12125550100",
      international: "+1 212 555 0100 ext. 12",
      national: "(212) 555-0100 ext. 12",
      rfc3966: "tel:+12125550100;ext=12",
      country: "US",
      calling_code: "1",
      national_number: "2125550100",
      extension: "12",
      is_non_geographic: false,
      vanity: false,
      type: "fixed_line_or_mobile",
      timezones: ["America/New_York"],
      original_carrier: null,
    });
  });
});

describe("the written form", () => {
  test.each(national)(
    "of %j dialled in %s is %s nationally and %s internationally",
    (text = "", region, home, abroad) => {
      const result = validatePhone(text, regionOf(region ?? "-"));
      expect([result.valid, result.national, result.international]).toEqual([true, home ?? "", abroad ?? ""]);
    },
  );
});

describe("an extension", () => {
  test.each(extensions)(
    "%j dialled in %s is %s with extension %s",
    (text = "", region = "-", e164, extension) => {
      const result = validatePhone(text, regionOf(region));
      expect([result.valid, result.e164, result.extension]).toEqual([true, e164 ?? "", extension ?? ""]);
      expect(result.vanity).toBe(false);
      expect(result.rfc3966).toBe(`tel:${e164};ext=${extension}`);
    },
  );
});

describe("vanity letters", () => {
  test.each(vanity)(
    "%j dialled in %s is %s, extension %s",
    (text = "", region = "-", e164, extension = "-") => {
      const result = validatePhone(text, regionOf(region));
      expect([result.valid, result.vanity, result.e164]).toEqual([true, true, e164 ?? ""]);
      expect(result.extension ?? "-").toBe(extension);
    },
  );
});

describe("an invalid number", () => {
  test.each(invalid)("%j dialled in %s: %s", (text = "", region = "-", reason) => {
    const result = validatePhone(text, regionOf(region));
    expect([result.valid, result.reason]).toEqual([false, reason as never]);
    expect([result.type, result.timezones, result.original_carrier]).toEqual([null, [], null]);
    expect(result.possible).toBe(reason === "invalid_number");
    expect(result.e164 !== null).toBe(result.possible);
  });

  test("has the parts that could be parsed", () => {
    expect(validatePhone("+55 11 9876", undefined)).toMatchObject({
      reason: "too_short",
      e164: null,
      country: "BR",
      calling_code: "55",
      national_number: "119876",
    });
  });

  test("has another reason than a failed check", () => {
    expect(checkFailed("+55")).toMatchObject({
      phone: "+55",
      valid: false,
      reason: "check_failed",
      timezones: [],
    });
  });
});

describe("time zones and original carrier", () => {
  test.each(places)("%s: %s, %s", (e164 = "", zones = "-", carrier) => {
    const result = validatePhone(e164, undefined);
    expect(result.valid).toBe(true);
    if (/^\d+$/.test(zones)) expect(result.timezones).toHaveLength(Number(zones));
    else expect(result.timezones.join("&") || "-").toBe(zones);
    expect(result.original_carrier ?? "-").toBe(carrier ?? "");
  });

  test("has no original carrier in countries with number portability", () => {
    for (const e164 of [
      "+5511987654321",
      "+447400123456",
      "+491713920012",
      "+79161234567",
      "+919812345678",
    ]) {
      expect(validatePhone(e164, undefined)).toMatchObject({ valid: true, original_carrier: null });
    }
  });
});

describe("any text", () => {
  test("that is a tel: URI has the same result every time", () => {
    const uri = "tel:03-331-6005;phone-context=+64";
    const results = Array.from({ length: 6 }, () => validatePhone(uri, undefined));
    expect(results.map(({ e164 }) => e164)).toEqual(Array(6).fill("+6433316005"));
    const domain = "tel:03-331-6005;phone-context=example.com";
    const local = Array.from({ length: 6 }, () => validatePhone(domain, { country: "NZ" }).valid);
    expect(local).toEqual(Array(6).fill(true));
  });

  test("of 10,000 characters is refused as too long within a millisecond", () => {
    for (const piece of [
      "1",
      "a",
      " ",
      "(",
      "x",
      "+",
      "ext ",
      ";ext=1",
      "\uff11",
      "\ufdfa",
      "\u0663",
      "\u202a",
    ]) {
      const text = piece.repeat(10_000).slice(0, 10_000);
      expect(validatePhone(text, { country: "US" }).reason).toBe("too_long");
      const tenfold = () => {
        for (let round = 0; round < 10; round += 1) validatePhone(text, { country: "US" });
      };
      expect(quickestMs(tenfold, 10) / 10).toBeLessThan(1);
    }
  });
});
