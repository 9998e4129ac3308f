import { createStubResolver, type StubResolver } from "../../src/dns/resolver.ts";
import type { StubResolverDependencies } from "../../src/dns/resolver-options.ts";
import { parseServerAddress, type ServerAddress } from "../../src/dns/server-address.ts";
import { type FixtureServer, startFixtureServer } from "../../src/made-up-dns/server.ts";
import { systemClock } from "../../src/platform/clock.ts";

export type ResolverUnderTest = AsyncDisposable & {
  readonly server: FixtureServer;
  readonly resolver: StubResolver;
};

/** The address of a server as a setting of the resolver. */
export function serverAddress(text: string): ServerAddress {
  const address = parseServerAddress(text);
  if (address === null) throw new Error(`no server address: ${text}`);
  return address;
}

/**
 * A fixture server with this zone, and a resolver that asks it. Both end with the scope. By default, a
 * look-up takes no longer than the attempts that it is given.
 */
export async function startDns(
  zone: string,
  settings: Partial<StubResolverDependencies> = {},
): Promise<ResolverUnderTest> {
  const server = await startFixtureServer({ zone });
  const attempts = settings.attemptTimeoutsMs;
  const resolver = createStubResolver({
    servers: [serverAddress(server.address)],
    clock: systemClock,
    ...(attempts === undefined ? {} : { lookupTimeoutMs: attempts.reduce((sum, ms) => sum + ms, 0) }),
    ...settings,
  });
  return {
    server,
    resolver,
    [Symbol.asyncDispose]: async () => {
      resolver.close();
      await server.close();
    },
  };
}
