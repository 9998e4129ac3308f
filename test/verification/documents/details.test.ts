import { describe, expect, test } from "bun:test";
import type { DocumentType } from "../../../src/contract/words.ts";
import { documents } from "../../../src/verification/documents/all-documents.ts";
import { ibanCountries } from "../../../src/verification/documents/iban-country.ts";
import type { Outcome } from "../../../src/verification/documents/outcome.ts";
import { vatRules } from "../../../src/verification/documents/vat.ts";
import { readDocumentVectors } from "../../support/documents-vectors.ts";

function validate<T extends DocumentType>(type: T, value: string): Outcome<T> {
  return documents[type].validate(value);
}

describe("cpf", () => {
  test("has the fiscal region and the expected check digits", () => {
    expect(validate("cpf", "529.982.247-26")).toMatchObject({
      reason: "checksum",
      message: "The check digits are 26 and should be 25.",
      formatted: "529.982.247-26",
      country: "BR",
      strength: "two_check_digits",
      details: { region: "ES, RJ", expected_check_digits: "25" },
    });
    expect(validate("cpf", "111.444.777-35").details.region).toBe("ES, RJ");
    expect(validate("cpf", "12345").details).toEqual({ region: null, expected_check_digits: null });
  });

  test("warns of the number that most examples use", () => {
    expect(validate("cpf", "123.456.789-09").warnings).toEqual(["test_number"]);
  });
});

describe("cnpj", () => {
  test("has root and branch, with letters in either case", () => {
    expect(validate("cnpj", "12.abc.345/01de-35")).toMatchObject({
      normalized: "12ABC34501DE35",
      formatted: "12.ABC.345/01DE-35",
      details: { root: "12ABC345", branch: "01DE", alphanumeric: true, expected_check_digits: "35" },
    });
    expect(validate("cnpj", "11222333000181").details).toEqual({
      root: "11222333",
      branch: "0001",
      alphanumeric: false,
      expected_check_digits: "81",
    });
  });
});

describe("iban", () => {
  test("has the 89 countries of the registry, each with its example, of which 42 take part in SEPA", async () => {
    const countries = ibanCountries.map(({ code }) => code);
    expect(countries).toHaveLength(89);
    const examples = (await readDocumentVectors("iban.valid.txt")).slice(0, 89).map(([value = ""]) => value);
    expect(examples.map((value) => value.slice(0, 2)).sort()).toEqual(countries.toSorted());
    // In SEPA the United Kingdom is one country; Gibraltar has a code of its own.
    expect(ibanCountries.filter(({ sepa }) => sepa)).toHaveLength(42);
  });

  test("has the parts of the number", () => {
    expect(validate("iban", "gb29 nwbk 6016 1331 9268 19")).toMatchObject({
      normalized: "GB29NWBK60161331926819",
      formatted: "GB29 NWBK 6016 1331 9268 19",
      country: "GB",
      strength: "mod97",
      data_version: "SWIFT IBAN registry 103 (2026-09)",
      details: {
        check_digits: "29",
        expected_check_digits: "29",
        bban: "NWBK60161331926819",
        bank_code: "NWBK",
        branch_code: "601613",
        account_number: "31926819",
        national_check: "not_checked",
        sepa: true,
      },
    });
  });

  test.each([
    ["ES9121000418450200051332", "2100", "0418", "0200051332", "pass"],
    ["FR1420041010050500013M02606", "20041", "01005", "0500013M026", "pass"],
    ["IT60X0542811101000000123456", "05428", "11101", "000000123456", "pass"],
    ["PL61109010140000071219812874", "10901014", null, "0000071219812874", "pass"],
    ["BR1800360305000010009795493C1", "00360305", "00001", "0009795493", "not_checked"],
    ["BR6512ABC345000100000097954C1", "12ABC345", "00010", "0000097954", "not_checked"],
    ["JO94CBJO0010000000000131000302", "CBJO", "0010", "000000000131000302", "not_checked"],
    ["DE89370400440532013000", "37040044", null, "0532013000", "not_checked"],
    ["BE68539007547034", "539", null, "0075470", "pass"],
  ])("has the parts of %s", (value, bank_code, branch_code, account_number, national_check) => {
    expect(validate("iban", value).details).toMatchObject({
      bank_code,
      branch_code,
      account_number,
      national_check: national_check as "pass",
    });
  });

  test("has the expected check digits, and names the country of a territory", () => {
    expect(validate("iban", "DE88370400440532013000")).toMatchObject({
      reason: "checksum",
      message: "The check digits are 88 and should be 89.",
      details: { check_digits: "88", expected_check_digits: "89" },
    });
    expect(validate("iban", "RE1420041010050500013M02606")).toMatchObject({
      reason: "component",
      country: null,
    });
    expect(validate("iban", "RE1420041010050500013M02606").message).toContain("under FR");
  });

  test("reports national check digits that fail", () => {
    expect(validate("iban", "NO6686011117948")).toMatchObject({
      valid: false,
      reason: "component",
      details: { national_check: "fail", expected_check_digits: "66" },
    });
  });

  test("has only country and check digits of a number of wrong length", () => {
    const { details, country } = validate("iban", "DE8937040044053201300");
    expect([country, details.check_digits, details.sepa]).toEqual(["DE", "89", true]);
    expect([details.expected_check_digits, details.bban, details.bank_code]).toEqual([null, null, null]);
    expect(validate("iban", "DZ580002100001113000000570").details.check_digits).toBe("58");
    expect(validate("iban", "DE8X").details.check_digits).toBeNull();
  });

  test("warns of QR-IBANs", () => {
    expect(validate("iban", "CH4431999123000889012").warnings).toEqual(["qr_iban"]);
    expect(validate("iban", "CH9300762011623852957").warnings).toEqual([]);
  });
});

describe("vat", () => {
  test("has rules for the 27 member states and 14 other prefixes", () => {
    const members = "AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK";
    const others = "AU BR CHE EU GB IM IN IS MX NO RS RU TR XI";
    expect(vatRules.map(({ prefix }) => prefix).sort()).toEqual(`${members} ${others}`.split(" ").sort());
  });

  test("has the prefix EL and the country GR for Greece, written EL or GR", () => {
    for (const value of ["EL094259216", "gr 094.259.216"]) {
      expect(validate("vat", value)).toMatchObject({
        valid: true,
        normalized: "EL094259216",
        country: "GR",
        details: { prefix: "EL", number: "094259216" },
      });
    }
  });

  test("has no suffix in the number", () => {
    expect(validate("vat", "che107787577iva")).toMatchObject({
      normalized: "CHE107787577IVA",
      formatted: "CHE-107.787.577 IVA",
      country: "CH",
      details: { prefix: "CHE", number: "107787577" },
    });
    expect(validate("vat", "NO 974 760 673 MVA").details).toEqual({ prefix: "NO", number: "974760673" });
  });

  test("converts withdrawn lengths to the present one, with a warning", () => {
    expect(validate("vat", "BE403019261")).toMatchObject({
      valid: true,
      normalized: "BE0403019261",
      warnings: ["legacy_length"],
    });
  });

  test("has the country GB for Northern Ireland and none for the One Stop Shop", () => {
    expect(validate("vat", "XI110305878").country).toBe("GB");
    expect(validate("vat", "EU372022452")).toMatchObject({ valid: true, country: null, strength: "format" });
  });

  test("has the strength format for numbers without a check digit", () => {
    expect(validate("vat", "GB980780684").strength).toBe("two_check_digits");
    for (const value of ["GBGD001", "XIHA500", "LV16117519997", "LV32000000000", "CZ395601439", "IS00621"]) {
      expect(validate("vat", value)).toMatchObject({ valid: true, strength: "format" });
    }
    expect(validate("vat", "LV40003521600").strength).toBe("check_digit");
    expect(validate("vat", "RU500100732259").strength).toBe("two_check_digits");
  });

  test("accepts an RFC with a wrong check digit with a warning, as authorities have issued such", () => {
    expect(validate("vat", "MXGODE561231GR8").warnings).toEqual([]);
    expect(validate("vat", "MXGODE561231GR9")).toMatchObject({
      valid: true,
      warnings: ["check_digit_mismatch"],
    });
    expect(validate("vat", "MXÑAÑ561231GR8").normalized).toBe("MXÑAÑ561231GR8");
  });
});

describe("an unreadable value", () => {
  test.each([
    ["cpf", "529.982.247-2X", "format", "Character 14 has no place in a CPF."],
    ["iban", "DE89_3704", "format", "Character 5 has no place in an IBAN."],
    ["card", " - ", "length", "The value has separators and nothing else."],
    ["isbn", "  ", "length", "The value is empty."],
  ] as const)("of type %s, %j, is refused with its reason", (type, value, reason, message) => {
    expect(validate(type, value)).toMatchObject({ reason, message });
  });
});

describe("card", () => {
  test("has brand, issuer number and length", () => {
    expect(validate("card", "3782 822463 10005")).toMatchObject({
      value: "378282*****0005",
      normalized: "378282*****0005",
      formatted: "378282*****0005",
      warnings: ["test_number"],
      details: { brand: "american-express", iin: "378282", last4: "0005", length: 15, cvv_length: 4 },
    });
  });

  test.each([
    ["Authorize.net", "5424000000000015"],
    ["Square", "4532759734545858"],
    ["Redsys", "4548812049400004"],
    ["Mercado Pago", "5031433215406351"],
    ["Paystack", "5060666666666666666"],
    ["Flutterwave", "5531886652142950"],
    ["iyzico", "5528790000000008"],
    ["Razorpay", "5267318187975449"],
    ["Opayo", "4462000000000003"],
    ["Checkout.com", "4544249167673670"],
    ["Adyen's terminals", "6000070736169237003"],
    ["Cybersource", "2222420000001113"],
    ["PAYONE", "4111141011111111116"],
    ["Recurly", "4000000000000226"],
    ["Heartland", "3055155515160018"],
    ["Bambora", "5125860000000006"],
    ["Worldnet", "3600000000000008"],
    ["Access PaySuite", "4844215500115643"],
    ["Azul", "6011000990099818"],
  ])("warns of the test numbers of %s", (_, number) => {
    expect(validate("card", number)).toMatchObject({ valid: true, warnings: ["test_number"] });
  });

  test("accepts an unknown brand and legacy lengths with a warning", () => {
    expect(validate("card", "9999999999999995")).toMatchObject({ valid: true, warnings: ["unknown_issuer"] });
    expect(validate("card", "9999999999999995").details.brand).toBeNull();
    expect(validate("card", "4222222222222").warnings).toEqual(["legacy_length", "test_number"]);
    expect(validate("card", "180000000000002").warnings).toEqual(["legacy_length"]);
  });

  test("names the expected check digit", () => {
    expect(validate("card", "4242424242424241").message).toBe("The check digit is 1 and should be 2.");
  });
});

describe("isbn", () => {
  test("has both lengths, hyphens and the group, from either", () => {
    const details = {
      isbn10: "316148410X",
      isbn13: "9783161484100",
      hyphenated10: "3-16-148410-X",
      hyphenated13: "978-3-16-148410-0",
      group: "978-3",
      group_name: "German language",
    };
    expect(validate("isbn", "316148410x")).toMatchObject({
      normalized: "316148410X",
      formatted: "3-16-148410-X",
      details,
    });
    expect(validate("isbn", "9783161484100")).toMatchObject({ formatted: "978-3-16-148410-0", details });
    expect(validate("isbn", "9783161484100").data_version).toMatch(/^ISBN RangeMessage 20\d\d-\d\d-\d\d /);
  });

  test("has no ISBN-10 for 979", () => {
    expect(validate("isbn", "979-10-90636-07-1").details).toMatchObject({
      isbn10: null,
      hyphenated10: null,
      group: "979-10",
      group_name: "France",
    });
  });

  test("accepts a number of an assigned group, and refuses one of an unassigned group", () => {
    expect(validate("isbn", "9786500000009")).toMatchObject({ reason: null });
    const unassigned = validate("isbn", "9789999999991");
    expect([unassigned.valid, unassigned.details.group]).toEqual([false, null]);
  });
});

describe("ean13", () => {
  test.each([
    ["5901234123457", "590", "PL", "product", []],
    ["2012345678903", "201", null, "restricted", ["restricted_prefix"]],
    ["0412345678903", "041", null, "restricted", ["restricted_prefix"]],
    ["9771144875007", "977", "ISSN", "issn", []],
    ["9780306406157", "978", "ISBN", "isbn", []],
    ["9790260000438", "979", "ISMN", "ismn", []],
    ["9812345678902", "981", null, "coupon", []],
    ["9802345678903", "980", null, "refund", []],
    ["1412345678902", "141", null, "product", ["unknown_issuer"]],
    ["9521234543213", "952", "GS1", "product", ["test_number"]],
    ["0012345678905", "001", "US", "product", []],
    ["3812345678908", "381", "XK", "product", []],
    ["6322345678909", "632", "RW", "product", []],
    ["8872345678907", "887", "LA", "product", []],
  ] as const)("classifies %s", (value, gs1_prefix, issuer, kind, warnings) => {
    const result = validate("ean13", value);
    expect(result.reason).toBeNull();
    expect(result.details).toEqual({ gs1_prefix, issuer, class: kind });
    expect([...result.warnings]).toEqual([...warnings]);
  });
});

describe("ein", () => {
  test("has every campus of the prefix, and the strength format", () => {
    expect(validate("ein", "46-1234567")).toMatchObject({
      normalized: "461234567",
      formatted: "46-1234567",
      country: "US",
      strength: "format",
      details: { prefix: "46", campus: ["Internet", "Philadelphia"] },
    });
    expect(validate("ein", "07-1234567")).toMatchObject({
      reason: "component",
      details: { prefix: "07", campus: [] },
    });
    expect(validate("ein", "12-345678").details).toEqual({ prefix: null, campus: null });
  });
});
