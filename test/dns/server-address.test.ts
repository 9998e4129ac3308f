import { expect, test } from "bun:test";
import { formatServerAddress, parseServerAddress } from "../../src/dns/server-address.ts";
import { systemServers } from "../../src/dns/system-servers.ts";

test.each([
  ["127.0.0.1", "127.0.0.1:53"],
  [" 127.0.0.1:5353 ", "127.0.0.1:5353"],
  ["::1", "[::1]:53"],
  ["[::1]", "[::1]:53"],
  ["[2001:db8::1]:5353", "[2001:db8::1]:5353"],
])("%s is read as %s", (text, expected) => {
  const address = parseServerAddress(text);
  expect(address === null ? null : formatServerAddress(address)).toBe(expected);
});

test.each([
  "",
  "dns.example.com",
  "127.0.0.1:",
  "127.0.0.1:0",
  "127.0.0.1:65536",
  "127.0.0.1:+5",
  "[::1",
  "[127.0.0.1]:53",
  "::1:x",
  "1.2.3",
  "[::1]x",
])("%p is no server address", (text) => expect(parseServerAddress(text)).toBeNull());

test("the system's servers are addresses", () => {
  for (const { port } of systemServers()) expect(port).toBeGreaterThan(0);
});
