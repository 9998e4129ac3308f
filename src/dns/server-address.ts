import { isIPv4, isIPv6 } from "node:net";

/** The address of a DNS server. */
export type ServerAddress = { readonly ip: string; readonly port: number };

const DNS_PORT = 53;

/**
 * Parses `1.2.3.4`, `1.2.3.4:5353`, `::1` or `[::1]:5353`; null for anything else, host names included, as nothing
 * could resolve them.
 */
export function parseServerAddress(text: string): ServerAddress | null {
  const trimmed = text.trim();
  if (isIPv4(trimmed) || isIPv6(trimmed)) return { ip: trimmed, port: DNS_PORT };
  const bracketed = trimmed.startsWith("[");
  const close = bracketed ? trimmed.indexOf("]") : trimmed.lastIndexOf(":");
  if (close < 0) return null;
  const ip = bracketed ? trimmed.slice(1, close) : trimmed.slice(0, close);
  if (bracketed ? !isIPv6(ip) : !isIPv4(ip)) return null;
  const rest = bracketed ? trimmed.slice(close + 1) : trimmed.slice(close);
  if (rest === "") return { ip, port: DNS_PORT };
  if (!/^:\d{1,5}$/.test(rest)) return null;
  const port = Number(rest.slice(1));
  return port >= 1 && port <= 65_535 ? { ip, port } : null;
}

/** Formats an address as `parseServerAddress` parses it. */
export function formatServerAddress({ ip, port }: ServerAddress): string {
  return isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`;
}
