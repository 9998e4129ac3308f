import { describe, expect, test } from "bun:test";
import libraryPackage from "../../../node_modules/libphonenumber-js/package.json" with { type: "json" };
import { tables } from "../../../src/tools/data-refresh/phone-tables.ts";
import { PHONE_DATA_VERSION } from "../../../src/verification/phone/parse.ts";
import { decodePrefixTable } from "../../../src/verification/phone/prefix-table.ts";

describe("a prefix table", () => {
  const find = decodePrefixTable("# comment\nall\t1\narea\t1212 1213\nfar\t121255501\nsome\t44\n");

  test("returns the value of the longest prefix", () => {
    expect(find("12125550100")).toBe("far");
    expect(find("12125560100")).toBe("area");
    expect(find("13105550100")).toBe("all");
    expect(find("442079460958")).toBe("some");
  });

  test("returns undefined where no prefix fits, and never the value of a prefix longer than the number", () => {
    expect(find("4")).toBeUndefined();
    expect(find("")).toBeUndefined();
    expect(find("4820794")).toBeUndefined();
    expect(find("121255501")).toBe("far");
    expect(find("12125550")).toBe("area");
  });
});

describe("the committed tables", () => {
  for (const { path, build } of tables) {
    const source = path.replace("/data/", "/data/sources/");

    test(`${path} is generated from its source`, async () => {
      expect(await Bun.file(path).text()).toBe(await build());
    });

    test(`${path} has for every prefix the value of its source, or none`, async () => {
      const find = decodePrefixTable(await Bun.file(path).text());
      let found = 0;
      for (const line of (await Bun.file(source).text()).split("\n")) {
        const [, prefix, value] = /^(\d+)\|(.+)$/.exec(line) ?? [];
        if (prefix === undefined || value === undefined) continue;
        const answer = find(prefix);
        if (answer !== undefined) {
          expect(answer).toBe(value);
          found += 1;
        }
      }
      expect(found).toBeGreaterThan(3000);
    });
  }

  test("have the metadata's release and the sources' date as version", async () => {
    const source = await Bun.file("src/verification/phone/data/sources/carriers.txt").text();
    const date = /snapshot of (\S+)\./.exec(source)?.[1];
    expect(PHONE_DATA_VERSION).toBe(`libphonenumber-js ${libraryPackage.version}, prefixes ${date}`);
  });
});
