import { getServers } from "node:dns";
import { parseServerAddress, type ServerAddress } from "./server-address.ts";

/** The servers the machine itself asks, in its order (`/etc/resolv.conf` on Unix); empty where it names none. */
export function systemServers(): ServerAddress[] {
  return getServers()
    .map(parseServerAddress)
    .filter((server) => server !== null);
}
