import { getServers } from "node:dns";
import { parseServerAddress, type ServerAddress } from "./server-address.ts";

/** Returns the DNS servers of the machine, in its order (`/etc/resolv.conf` on Unix); empty where it names none. */
export function systemServers(): ServerAddress[] {
  return getServers()
    .map(parseServerAddress)
    .filter((server) => server !== null);
}

/** Returns the servers of a validated setting; those of the machine for an empty one. */
export function serversOf(texts: readonly string[]): readonly ServerAddress[] {
  if (texts.length === 0) return systemServers();
  return texts.map((text) => {
    const server = parseServerAddress(text);
    if (server === null) throw new Error("The settings let pass what is no server address");
    return server;
  });
}
