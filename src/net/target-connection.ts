import { isAddress, isOutgoingAddress } from "../dns/public-address.ts";
import type { Clock } from "../platform/clock.ts";
import type { AddressLookup } from "./address-lookup.ts";
import { type Connect, type Connection, connect } from "./connection.ts";
import type { Deadline } from "./deadline.ts";
import { OutgoingError } from "./failure.ts";
import { firstSuccess } from "./first-success.ts";
import type { OutgoingLimits } from "./limits.ts";
import type { Target } from "./target.ts";

export type OutgoingDependencies = {
  readonly lookUp: AddressLookup;
  readonly clock: Clock;
  /** Trusted roots instead of the built-in ones, PEM. */
  readonly ca?: string;
  readonly connect?: Connect;
};

export type TargetConnection = { readonly connection: Connection; readonly lookupMs: number };

const ADDRESSES_MAX = 4;

/**
 * Creates a connector: it resolves the host of a target once, checks every address, and connects to a checked one. Throws
 * OutgoingErrors.
 */
export function createTargetConnector(
  dependencies: OutgoingDependencies,
  limits: Pick<OutgoingLimits, "lookupTimeoutMs" | "connectTimeoutMs">,
  { allowPrivate }: { readonly allowPrivate: boolean },
): (target: Target, deadline: Deadline) => Promise<TargetConnection> {
  const { clock } = dependencies;

  /** Returns the addresses of a target, all of them checked. */
  async function addressesOf({ host, isLiteral }: Target, deadline: Deadline): Promise<readonly string[]> {
    const addresses = isLiteral ? [host] : await resolve(host, deadline);
    const odd = addresses.find((address) => !isAddress(address));
    if (odd !== undefined)
      throw new OutgoingError("dns_failed", `${host} has an address that cannot be read`);
    const refused = allowPrivate ? undefined : addresses.find((address) => !isOutgoingAddress(address));
    if (refused !== undefined) {
      throw new OutgoingError("private_address", `${host} has the private address ${refused}`);
    }
    return addresses.slice(0, ADDRESSES_MAX);
  }

  async function resolve(host: string, deadline: Deadline): Promise<readonly string[]> {
    const { lookupTimeoutMs } = limits;
    const silence = `${host} was not resolved within ${lookupTimeoutMs} ms`;
    const work = dependencies.lookUp(host);
    const resolution = await deadline.within(work, lookupTimeoutMs, "dns_timeout", silence);
    if (!resolution.ok) throw new OutgoingError(resolution.reason, `${host} cannot be resolved`);
    if (resolution.addresses.length > 0) return resolution.addresses;
    throw new OutgoingError("dns_not_found", `${host} has no address`);
  }

  function connectTo(
    { host, port, isSecure }: Target,
    addresses: readonly string[],
    deadline: Deadline,
  ): Promise<Connection> {
    const { connectTimeoutMs } = limits;
    const dial = dependencies.connect ?? connect;
    const attempts = firstSuccess(addresses, connectTimeoutMs / addresses.length, (address, given) => {
      return dial({
        address,
        port,
        tlsName: isSecure ? host : null,
        ca: dependencies.ca ?? null,
        monotonic: clock.monotonic,
        signal: AbortSignal.any([deadline.signal, given]),
      });
    });
    const silence = `no connection to ${host} within ${connectTimeoutMs} ms`;
    return deadline.within(attempts, connectTimeoutMs, "connect_timeout", silence);
  }

  return async (target, deadline) => {
    const startedMs = clock.monotonic();
    const addresses = await addressesOf(target, deadline);
    const lookupMs = clock.monotonic() - startedMs;
    return { connection: await connectTo(target, addresses, deadline), lookupMs };
  };
}
