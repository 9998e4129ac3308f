/**
 * Returns the key of a client address. An IPv6 /64 network is one client, as its holder can use any address in it; an
 * IPv4-mapped IPv6 address is that IPv4 address. Some proxies write the port of each connection behind the address, which
 * would make every one of them a client.
 */
export function clientAddressKey(address: string): string {
  if (!/[:[]/.test(address)) return address.toLowerCase();
  const lower = address.toLowerCase().replace(/^\[(.*)\](?::\d+)?$/, "$1");
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(lower)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [head = "", tail] = lower.split("%", 1).join("").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros =
    tail === undefined ? [] : new Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}
