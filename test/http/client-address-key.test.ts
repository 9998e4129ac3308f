import { describe, expect, test } from "bun:test";
import { clientAddressKey } from "../../src/http/client-address-key.ts";

describe("client address", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:51234", "203.0.113.7"],
    ["[::ffff:203.0.113.7]:51234", "203.0.113.7"],
    ["[2001:db8:1:2::9]:51234", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::9]", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ])("%s is limited as %s", (address, key) => {
    expect(clientAddressKey(address)).toBe(key);
  });
});
