import { describe, expect, test } from "bun:test";
import { isCountry } from "../../../src/verification/phone/parse.ts";
import { readCountry } from "../../../src/verification/phone/region.ts";
import { validatePhone } from "../../../src/verification/phone/validation.ts";

describe("the country of a request", () => {
  test("is an ISO code in any case", () => {
    for (const text of ["BR", "br", "Br", " br "]) expect(readCountry(text)).toEqual({ country: "BR" });
  });

  test("is a calling code, with a plus, without, or with the space that a plus becomes in a query", () => {
    for (const text of ["55", "+55", " 55"]) expect(readCountry(text)).toEqual({ country: "BR" });
  });

  test("remains a calling code where several countries or none have it", () => {
    for (const code of ["1", "7", "44", "39", "47", "61", "212", "262", "358", "590", "599", "800", "979"]) {
      expect(readCountry(code)).toEqual({ callingCode: code });
    }
  });

  test("may be a country without a numbering plan: only international numbers are read then", () => {
    for (const country of ["AQ", "BV", "GS", "HM", "PN", "TF", "UM"]) {
      expect(isCountry(country)).toBe(false);
      expect(readCountry(country.toLowerCase())).toEqual({ country });
      expect(validatePhone("020 7946 0958", { country }).reason).toBe("invalid_country");
      expect(validatePhone("+44 20 7946 0958", { country }).valid).toBe(true);
    }
  });

  test("is null for any other text", () => {
    const others = [
      "",
      " ",
      "0",
      "00",
      "0055",
      "055",
      "999",
      "210",
      "001",
      "5555",
      "+",
      "++55",
      "+BR",
      "5 5",
      "+55 11",
    ];
    others.push(
      "BRA",
      "Brazil",
      "XX",
      "ZZ",
      "EN",
      "UK",
      "b",
      "\u0131t",
      "\uff22\uff32",
      "constructor",
      "__proto__",
    );
    others.push("toString", "5e1", "1.0", "-55", "\u0665\u0665", "B\u0000", "br".repeat(5000));
    for (const text of others) expect([text, readCountry(text)]).toEqual([text, null]);
  });
});

describe("a number of a shared calling code", () => {
  test("belongs to the country of its area code, whichever of them is given", () => {
    for (const region of [{ callingCode: "1" }, { country: "US" }, { country: "CA" }, { country: "JM" }]) {
      expect(validatePhone("(416) 555-0134", region).country).toBe("CA");
      expect(validatePhone("876 922 1234", region).country).toBe("JM");
      expect(validatePhone("212-555-0100", region).country).toBe("US");
    }
    for (const region of [{ callingCode: "7" }, { country: "RU" }, { country: "KZ" }]) {
      expect(validatePhone("8 (495) 697-03-49", region).country).toBe("RU");
      expect(validatePhone("8 (7172) 74-50-00", region).country).toBe("KZ");
    }
    for (const region of [{ callingCode: "44" }, { country: "GB" }, { country: "JE" }]) {
      expect(validatePhone("020 7946 0958", region).country).toBe("GB");
      expect(validatePhone("01534 445500", region).country).toBe("JE");
    }
  });

  test("that fits none of them has no country where only the calling code is given", () => {
    expect(validatePhone("555 555 5555", { callingCode: "1" })).toMatchObject({
      reason: "invalid_number",
      country: null,
      calling_code: "1",
    });
  });
});
