import { describe, expect, test } from "bun:test";
import { isIP, isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { isAddress, isPublicAddress, parseIpv4, parseIpv6 } from "../../src/dns/public-address.ts";

describe("an address", () => {
  test.each([
    "8.8.8.8",
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.0.9",
    "192.0.1.1",
    "192.31.196.1",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2a00:1450:4001::1",
    "2600::",
    "2001:4860:4860::8888",
    "2001:200::1",
    "2001:20::1",
    "2620:4f:8000::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
  ])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "169.254.0.1",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.255",
    "192.88.99.1",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:a00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fdff::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "",
    "mx.example.com",
    "1.2.3",
  ])("%p is not", (address) => expect(isPublicAddress(address)).toBe(false));
});

test("addresses are parsed as the runtime parses them", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.ipV4(),
        fc.ipV6(),
        fc.stringMatching(/^[0-9a-f:.]{0,20}$/),
        fc.stringMatching(/^(\d{1,3}\.){3}\d{1,3}$/),
      ),
      (text) => {
        expect(parseIpv4(text) !== null).toBe(isIPv4(text));
        expect(parseIpv6(text) !== null).toBe(isIPv6(text));
        expect(isAddress(text)).toBe(isIP(text) !== 0);
      },
    ),
    { numRuns: 3000 },
  );
});
