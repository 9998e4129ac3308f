import { describe, expect, test } from "bun:test";
import disposableText from "../../src/domains/data/disposable-domains.txt" with { type: "text" };
import freeText from "../../src/domains/data/free-domains.txt" with { type: "text" };
import { createDomainLists } from "../../src/domains/lists.ts";
import { allProviders } from "../../src/verification/email/providers.ts";
import disposablesText from "../vectors/email/disposables.txt" with { type: "text" };
import realText from "../vectors/email/real-domains.txt" with { type: "text" };
import relaysText from "../vectors/email/relays.txt" with { type: "text" };
import hostsText from "../vectors/email/throwaway-hosts.txt" with { type: "text" };
import { rowsOf } from "../verification/email/vectors.ts";

const { listsOf } = createDomainLists();
const noHosts: readonly string[] = [];

function column(text: string): string[] {
  return rowsOf(text).map(([first = ""]) => first);
}

describe("disposable", () => {
  test("is every listed domain and every name below it", () => {
    for (const domain of [...column(disposablesText), ...column(disposableText)]) {
      expect(listsOf(domain, noHosts).disposable).toBe("listed");
      expect(listsOf(`below.${domain}`, noHosts).disposable).toBe("listed");
    }
  });

  test("is no provider of the table, whatever the lists and its hosts say", () => {
    for (const domain of allProviders().keys()) {
      expect(listsOf(domain, ["mail.mailinator.com"]).disposable).toBeNull();
    }
  });

  test("is no relay, and none of the names below it", () => {
    for (const domain of column(relaysText)) {
      expect(listsOf(domain, noHosts)).toEqual({ disposable: null, freeProvider: true });
    }
  });

  test("is no domain of a real organization", () => {
    const flagged = column(realText).filter((domain) => listsOf(domain, noHosts).disposable !== null);
    expect(flagged).toEqual([]);
  });

  test("stops at the registrable domain and never reaches a public suffix", () => {
    for (const suffix of ["com", "co.uk", "com.ar", "com.br", "github.io", "uk.com"]) {
      expect(listsOf(suffix, noHosts).disposable).toBeNull();
      expect(listsOf(`some-firm.${suffix}`, noHosts).disposable).toBeNull();
    }
    expect(listsOf("mailinator.com.some-firm.com", noHosts).disposable).toBeNull();
    expect(listsOf("not-mailinator.com", noHosts).disposable).toBeNull();
  });

  for (const [host = "", throwaway] of rowsOf(hostsText)) {
    test(`mail at ${host} ${throwaway === "yes" ? "makes a domain throwaway" : "says nothing of a domain"}`, () => {
      expect(listsOf("some-firm.com", [host]).disposable).toBe(throwaway === "yes" ? "mail_host" : null);
    });
  }
});

describe("a free provider", () => {
  test("is every provider of the table but the companies", () => {
    for (const [domain, { kind }] of allProviders()) {
      expect(listsOf(domain, noHosts).freeProvider).toBe(kind !== "company");
    }
  });

  test("is also one of the wider list alone, and never a disposable one", () => {
    for (const domain of column(freeText)) {
      expect(listsOf(domain, noHosts)).toEqual({ disposable: null, freeProvider: true });
    }
  });

  test("is no company, no university and no misspelling", () => {
    for (const domain of ["google.com", "facebook.com", "nus.edu.sg", "mit.edu", "gmial.com", "hotmai.com"]) {
      expect(listsOf(domain, noHosts).freeProvider).toBe(false);
    }
  });
});
