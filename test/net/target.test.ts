import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import fc from "fast-check";
import { OutgoingError } from "../../src/net/failure.ts";
import { readTarget, type TargetRules } from "../../src/net/target.ts";

const PUBLIC: TargetRules = { allowPrivate: false, ports: [80, 443], allowLiterals: false, httpsOnly: false };
const PRIVATE: TargetRules = { ...PUBLIC, allowPrivate: true };

/** The reason of the refusal, or host and port of what is let pass. */
function read(url: string, rules: TargetRules): string {
  try {
    const { host, port } = readTarget(url, rules);
    return `${host} ${port}`;
  } catch (error) {
    if (error instanceof OutgoingError) return error.reason;
    throw error;
  }
}

describe("an address of the public web", () => {
  test.each([
    ["https://example.com/a?b=c", "example.com 443"],
    ["http://example.com", "example.com 80"],
    ["http://EXAMPLE.com:443/", "example.com 443"],
    ["https://bücher.example/", "xn--bcher-kva.example 443"],
    ["https://ｅｘａｍｐｌｅ.com/", "example.com 443"],
    ["https://not.a.local.example/", "not.a.local.example 443"],
  ])("%s is let pass", (url, target) => expect(read(url, PUBLIC)).toBe(target));
});

describe("without permission for private addresses", () => {
  const LOOPBACK =
    "127.0.0.1 0x7f.1 0x7f000001 2130706433 127.1 0177.0.0.1 017700000001 ①②⑦.0.0.1 127。0。0。1 １２７.0.0.1 " +
    "[::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] 127.0.0.1. 0x7f.0x0.0x0.0x1";
  test.each(LOOPBACK.split(" "))("the literal address %s is refused", (host) => {
    expect(read(`http://${host}/`, PUBLIC)).toBe("literal_address");
    expect(read(`https://${host}/`, PUBLIC)).toBe("literal_address");
  });

  test.each(["8.8.8.8", "[2606:4700::1]"])("the public literal address %s is refused too", (host) =>
    expect(read(`https://${host}/`, PUBLIC)).toBe("literal_address"),
  );

  test.each([
    "localhost",
    "LOCALHOST",
    "intranet",
    "printer.local",
    "db.internal",
    "metadata.google.internal",
    "service.onion",
    "app.localhost",
    "router.home.arpa",
    "example.com.",
    "printer.local.",
    "ｌocalhost",
  ])("the name %s is refused", (host) => expect(read(`https://${host}/`, PUBLIC)).toBe("local_name"));

  test.each([
    ["ftp://example.com/", "bad_scheme"],
    ["file:///etc/passwd", "bad_scheme"],
    ["gopher://example.com/", "bad_scheme"],
    ["javascript:alert(1)", "bad_scheme"],
    ["example.com", "bad_url"],
    ["", "bad_url"],
    ["https://", "bad_url"],
    ["https://256.1.1.1/", "bad_url"],
    ["https://exa mple.com/", "bad_url"],
    ["https://user@example.com/", "user_info"],
    ["https://user:secret@example.com/", "user_info"],
    ["https://example.com@127.0.0.1/", "user_info"],
    ["https://example.com:8443/", "bad_port"],
    ["http://example.com:22/", "bad_port"],
    ["http://example.com:0/", "bad_port"],
  ])("%s is refused as %s", (url, reason) => expect(read(url, PUBLIC)).toBe(reason));

  test("ports beside 80 and 443 are let pass where they are allowed", () => {
    expect(read("https://example.com:8443/", { ...PUBLIC, ports: [80, 443, 8080, 8443] })).toBe(
      "example.com 8443",
    );
    expect(read("https://example.com:5000/", { ...PUBLIC, ports: "any" })).toBe("example.com 5000");
  });

  test("plain http is refused where https is asked for", () => {
    expect(read("http://example.com/", { ...PUBLIC, httpsOnly: true })).toBe("plain_http");
    expect(read("https://example.com/", { ...PUBLIC, httpsOnly: true })).toBe("example.com 443");
  });

  test("no host of digits, dots and hexadecimal gets by as a name", () => {
    const host = fc.string({
      unit: fc.constantFrom(..."0123456789abcdefx.:[]①②⑦。"),
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(host, (text) => {
        const verdict = read(`http://${text}/`, PUBLIC);
        const [host = ""] = verdict.includes(" ") ? verdict.split(" ") : [];
        // What is let pass is a name: no resolver takes it for an address.
        expect(isIP(host)).toBe(0);
        expect(host).not.toMatch(/(^|\.)(\d+|0x[\da-f]*)$/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe.each([
  ["without", PUBLIC],
  ["with", PRIVATE],
] as const)("%s permission for private addresses", (_, rules) => {
  const label = "a".repeat(63);
  const longest = `${`${label}.`.repeat(3)}${"a".repeat(57)}.com`;

  test("a name with labels of 63 characters and 253 in all is let pass", () => {
    expect(longest).toHaveLength(253);
    expect(read(`https://${longest}/`, rules)).toBe(`${longest} 443`);
  });

  test.each([
    ["is longer", `a${longest}`],
    ["is longer in its ASCII form", `${"bücher.".repeat(18)}example`],
    ["has a longer label", `a${label}.example`],
    ["has an empty label", "a..example"],
  ])("a name that %s is refused", (_, host) => expect(read(`https://${host}/`, rules)).toBe("bad_url"));
});

describe("with permission for private addresses", () => {
  test.each([
    ["http://127.0.0.1:3000/", "127.0.0.1 3000"],
    ["http://localhost:8080/", "localhost 8080"],
    ["http://[::1]:3000/", "::1 3000"],
    ["http://0x7f.1/", "127.0.0.1 80"],
    ["http://printer.local/", "printer.local 80"],
  ])("%s is let pass", (url, target) => expect(read(url, { ...PRIVATE, httpsOnly: true })).toBe(target));

  test.each([
    ["https://user@localhost/", "user_info"],
    ["ftp://localhost/", "bad_scheme"],
    ["localhost", "bad_url"],
  ])("%s is still refused as %s", (url, reason) => expect(read(url, PRIVATE)).toBe(reason));
});
