import { describe, expect, test } from "bun:test";
import { allLocales } from "@faker-js/faker";
import { isRole } from "../../../src/verification/email/role.ts";
import peopleText from "../../vectors/email/people.txt" with { type: "text" };
import rolesText from "../../vectors/email/roles.txt" with { type: "text" };
import { rowsOf } from "./vectors.ts";

describe("a role account", () => {
  test("is recognised in every form of the vectors", () => {
    const missed = rowsOf(rolesText).flatMap(([local = ""]) => (isRole(local) ? [] : [local]));
    expect(missed).toEqual([]);
  });

  test("is never the local part of a person", () => {
    const flagged = rowsOf(peopleText).flatMap(([local = ""]) => (isRole(local) ? [local] : []));
    expect(flagged).toEqual([]);
  });

  test("is never a given name of any locale, except dev", () => {
    const names = new Set<string>();
    for (const locale of Object.values(allLocales)) collectNames(locale.person?.first_name, names);
    expect(names.size).toBeGreaterThan(10_000);
    // A given name in India, and far more often an address of developers.
    expect([...names].filter(isRole)).toEqual(["dev"]);
  });
});

function collectNames(value: unknown, names: Set<string>): void {
  if (typeof value === "string")
    names.add(value.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC").toLowerCase());
  else if (value !== null && typeof value === "object")
    for (const part of Object.values(value)) collectNames(part, names);
}
