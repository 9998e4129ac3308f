import { describe, expect, test } from "bun:test";
import { domainToASCII } from "node:url";
import fc from "fast-check";
import type { MailEvidence } from "../../../src/verification/email/domain-facts.ts";
import { editCost } from "../../../src/verification/email/edit-cost.ts";
import { allProviders, typoTargets } from "../../../src/verification/email/providers.ts";
import { suggestDomain } from "../../../src/verification/email/suggestion.ts";
import realText from "../../vectors/email/real-domains.txt" with { type: "text" };
import typosText from "../../vectors/email/typos.txt" with { type: "text" };
import { rowsOf } from "./vectors.ts";

const EVIDENCE: readonly MailEvidence[] = ["none", "unknown", "works"];

describe("a typo", () => {
  for (const [typed = "", meant = ""] of rowsOf(typosText)) {
    test(`${typed} is corrected to ${meant}`, () => {
      expect(suggestDomain(typed, "unknown")).toBe(meant);
      expect(suggestDomain(typed, "none")).toBe(meant);
    });
  }

  test("is not corrected where the domain accepts mail, unless it is a known typosquat", () => {
    expect(suggestDomain("outlok.fr", "works")).toBeNull();
    expect(suggestDomain("gmial.com", "works")).toBe("gmail.com");
    expect(suggestDomain("hotmial.com", "works")).toBe("hotmail.com");
    expect(suggestDomain("gamil.com", "works")).toBe("gmail.com");
  });

  test("in a provider's TLD is corrected only where the domain accepts no mail", () => {
    expect(suggestDomain("hotmail.xyz", "unknown")).toBeNull();
    expect(suggestDomain("hotmail.xyz", "none")).toBe("hotmail.com");
    expect(suggestDomain("hotmail.ir", "none")).toBe("hotmail.it");
    expect(suggestDomain("freenet.se", "none")).toBe("freenet.de");
    expect(suggestDomain("freenet.se", "unknown")).toBeNull();
    expect(suggestDomain("alice.se", "unknown")).toBeNull();
  });

  test("without a dot is corrected for every provider, however small or short", () => {
    for (const [domain, { kind }] of allProviders()) {
      if (kind === "mailbox") expect(suggestDomain(domain.replaceAll(".", ""), "none")).not.toBeNull();
    }
    expect(suggestDomain("gmxch", "none")).toBe("gmx.ch");
    expect(suggestDomain("webde", "none")).toBe("web.de");
    expect(suggestDomain("inboxlv", "none")).toBe("inbox.lv");
  });

  test("with another character for the dot is corrected", () => {
    expect(suggestDomain("gmail_com", "none")).toBe("gmail.com");
    expect(suggestDomain("t-online-de", "none")).toBe("t-online.de");
  });

  test("that is a homograph of a provider's domain is corrected even where it accepts mail", () => {
    for (const [typed, meant] of [
      ["gmаil.com", "gmail.com"],
      ["yаhоо.co.uk", "yahoo.co.uk"],
      ["οutlook.com", "outlook.com"],
      ["gmáil.com", "gmail.com"],
      ["hotmaıl.com", "hotmail.com"],
      ["protonmaıl.com", "protonmail.com"],
      ["γahoo.com", "yahoo.com"],
      ["үаһоо.com", "yahoo.com"],
      ["pгotonmail.com", "protonmail.com"],
      ["ᴏutlook.com", "outlook.com"],
      ["outlo०k.com", "outlook.com"],
      ["ɢmail.com", "gmail.com"],
      ["mаil.ru", "mail.ru"],
      ["lіve.com", "live.com"],
      ["aоl.com", "aol.com"],
    ] as const) {
      const name = domainToASCII(typed);
      expect(name).toStartWith("xn--");
      for (const mail of EVIDENCE) expect(suggestDomain(name, mail)).toBe(meant);
    }
    for (const own of ["ме.com", "ѕаре.com", "máil.ru", "мейл.com", "münchen.de", "почта.рф", "café.com"]) {
      expect(suggestDomain(domainToASCII(own), "unknown")).toBeNull();
    }
  });

  test("that is an accent alone is corrected where the domain accepts no mail, or looks like a large provider's", () => {
    for (const [typed, meant] of [
      ["telefónica.com", "telefonica.com"],
      ["nestlé.com", "nestle.com"],
      ["télé2.fr", "tele2.fr"],
      ["cañada.com", "canada.com"],
      ["canadá.com", "canada.com"],
      ["berlín.com", "berlin.com"],
      ["índia.com", "india.com"],
      ["orangé.fr", "orange.fr"],
      ["müńich.com", "munich.com"],
    ] as const) {
      const name = domainToASCII(typed);
      expect(suggestDomain(name, "works")).toBeNull();
      expect(suggestDomain(name, "none")).toBe(meant);
      expect(suggestDomain(name, "unknown")).toBe(meant);
    }
    for (const typed of ["gmáil.com", "yahöo.com", "øutlook.com", "iclóud.com", "hötmail.fr"]) {
      expect(suggestDomain(domainToASCII(typed), "works")).not.toBeNull();
    }
  });

  test("is corrected only to a domain that an address may have", () => {
    for (const typed of ["-river.con", "river_school.con", "[1.2.3.con", "ri!ver.con", "x_y@mozmail.com"]) {
      for (const mail of EVIDENCE) expect(suggestDomain(typed, mail)).toBeNull();
    }
    expect(suggestDomain("river..con", "none")).toBe("river.com");
    expect(suggestDomain("x,mozmail.com", "none")).toBe("x.mozmail.com");
  });

  test("between two addresses in one text is not taken for a dot", () => {
    for (const typed of [
      "fastmail.com bob@fastmail.com",
      "addy.io,bob@addy.io",
      "doe@fastmail.com",
      "river.con;bob@river.con",
    ]) {
      expect(suggestDomain(typed, "none")).toBeNull();
    }
    expect(suggestDomain("gmail@com", "none")).toBe("gmail.com");
    expect(suggestDomain("@river.con", "none")).toBe("river.com");
    expect(suggestDomain("gmail.com@", "none")).toBe("gmail.com");
  });

  test("of a letter twice in the TLD is corrected for any name", () => {
    for (const [typed, meant] of [
      ["river-school.dee", "river-school.de"],
      ["river-school.ffr", "river-school.fr"],
      ["river-school.com.brr", "river-school.com.br"],
      ["river-school.innfo", "river-school.info"],
    ] as const) {
      expect(suggestDomain(typed, "unknown")).toBe(meant);
    }
    expect(suggestDomain("river-school.dde.com", "unknown")).toBeNull();
    expect(suggestDomain("river-school.fri", "unknown")).toBeNull();
  });

  test("of a missing vowel between consonants is corrected without the DNS", () => {
    for (const [typed, meant] of [
      ["nver.com", "naver.com"],
      ["zggo.nl", "ziggo.nl"],
      ["ntlwrld.com", "ntlworld.com"],
      ["docmo.ne.jp", "docomo.ne.jp"],
    ] as const) {
      expect(suggestDomain(typed, "unknown")).toBe(meant);
    }
  });

  test("in the name of a small provider is corrected where the domain accepts no mail", () => {
    for (const [typed, meant] of [
      ["gazta.pl", "gazeta.pl"],
      ["hetet.nl", "hetnet.nl"],
      ["zohomil.com", "zohomail.com"],
      ["qq.cm", "qq.com"],
    ] as const) {
      expect(suggestDomain(typed, "none")).toBe(meant);
    }
  });

  test("in a short name is corrected only where the domain accepts no mail", () => {
    for (const [typed, meant] of [
      ["libe.com", "live.com"],
      ["mzil.ru", "mail.ru"],
      ["feree.fr", "free.fr"],
      ["gnmx.de", "gmx.de"],
      ["outluk.com", "outlook.com"],
    ] as const) {
      expect(suggestDomain(typed, "unknown")).toBeNull();
      expect(suggestDomain(typed, "none")).toBe(meant);
    }
  });
});

describe("a genuine domain", () => {
  for (const mail of EVIDENCE) {
    test(`gets no suggestion when the evidence of mail is "${mail}"`, () => {
      const domains = [...allProviders().keys(), ...rowsOf(realText).map(([domain = ""]) => domain)];
      expect(domains.filter((domain) => suggestDomain(domain, mail) !== null)).toEqual([]);
    });
  }

  test("with a first label of three letters or fewer gets no suggestion", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz";
    for (const a of letters) {
      for (const b of letters) {
        expect(suggestDomain(`${a}${b}.com`, "none")).toBeNull();
        expect(suggestDomain(`${a}o${b}.com`, "none")).toBeNull();
      }
    }
  });
});

describe("a suggestion for any text", () => {
  test("gets no suggestion itself", () => {
    const words = fc.array(fc.constantFrom(..."gmailhotyu.,-c@ 0\u0000ü"), { maxLength: 24 });
    const near = fc
      .tuple(fc.constantFrom(...typoTargets()), fc.nat(20), fc.constantFrom(..."abcxyz.0 "))
      .map(([{ domain }, at, letter]) => domain.slice(0, at) + letter + domain.slice(at + 1));
    fc.assert(
      fc.property(
        fc.oneof(
          words.map((parts) => parts.join("")),
          near,
        ),
        (text) => {
          const meant = suggestDomain(text, "none");
          if (meant !== null) expect(suggestDomain(meant, "works")).toBeNull();
        },
      ),
      { numRuns: 5_000 },
    );
  });
});

describe("the edit cost", () => {
  test("is 0 for the same word, and higher for less likely typos", () => {
    expect(editCost("gmail", "gmail", 2)).toBe(0);
    expect(editCost("gmial", "gmail", 2)).toBeLessThan(editCost("gmzbl", "gmail", 4));
    expect(editCost("gnail", "gmail", 2)).toBeLessThan(editCost("gxail", "gmail", 2));
    expect(editCost("yahooo", "yahoo", 2)).toBeLessThan(editCost("yahoox", "yahoo", 2));
    expect(editCost("zmail", "gmail", 3)).toBeGreaterThan(editCost("gmakl", "gmail", 3));
  });

  test("is infinite above its limit", () => {
    expect(editCost("abcdef", "uvwxyz", 1)).toBe(Number.POSITIVE_INFINITY);
  });
});
