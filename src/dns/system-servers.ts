import { getServers } from "node:dns";
import { parseServerAddress, type ServerAddress } from "./server-address.ts";

/** The servers the machine itself asks, in its order (`/etc/resolv.conf` on Unix); empty where it names none. */
export function systemServers(): ServerAddress[] {
  return getServers()
    .map(parseServerAddress)
    .filter((server) => server !== null);
}

/** Returns the servers of a setting that has been checked; none named: those of the machine. */
export function serversOf(texts: readonly string[]): readonly ServerAddress[] {
  if (texts.length === 0) return systemServers();
  return texts.map((text) => {
    const server = parseServerAddress(text);
    if (server === null) throw new Error("The settings let pass what is no server address");
    return server;
  });
}
