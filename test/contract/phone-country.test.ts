import { expect, test } from "bun:test";
import { PhoneCountry } from "../../src/contract/phone-country.ts";
import { readCountry } from "../../src/verification/phone/region.ts";

test("the countries of the contract are those that phone numbers are read with", () => {
  const pattern = new RegExp(PhoneCountry.pattern ?? "");
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const pairs = letters.flatMap((first) => letters.map((second) => first + second));
  const codes = Array.from({ length: 2000 }, (_, number) => `${number}`);
  const others = [
    "",
    "+",
    "++55",
    "055",
    "+055",
    "BRA",
    "B",
    "B R",
    "0",
    "-1",
    "５５",
    "\u00a0BR\u2003",
    "BR\n",
    "\u0085BR",
  ];
  const texts = [...pairs, ...codes, ...others].flatMap((text) => [
    ...[
      text,
      text.toLowerCase(),
      ` ${text} `,
      `+${text}`,
      `${text.slice(0, 1)}${text.slice(1).toLowerCase()}`,
    ],
  ]);
  const differing = texts.filter(
    (text) => text.length <= 16 && pattern.test(text) !== (readCountry(text) !== null),
  );
  expect(differing).toEqual([]);
  expect(texts.filter((text) => pattern.test(text)).length).toBeGreaterThan(1000);
});
