import type { ListingBody } from "../contract/directory-schemas.ts";
import type { Directory } from "../directory/directory.ts";
import { listingAt } from "../directory/snapshot/snapshot.ts";
import { lowerBound } from "../directory/snapshot/text-table.ts";
import type { Resolver } from "../dns/lookup.ts";
import type { Check } from "../judge/check.ts";
import type { Clock } from "../platform/clock.ts";
import { type LoadedOnce, loadedOnce } from "../platform/loaded-once.ts";
import type { PublicKey } from "../signing/signing-key.ts";
import type { ProbeStore } from "../store/probe-port.ts";
import type { SigningPort } from "../store/signing-port.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";

/** The judging check, the key that signs it, and the prober: none is loaded before somebody wants it. */
export type Judging = {
  readonly check: LoadedOnce<Check>;
  /** The keys that its answers may be signed with: in a cluster, those of all nodes. */
  readonly publicKeys: () => Promise<readonly PublicKey[]>;
  /** Null where this server does not probe. */
  readonly probes: ProbeStore | null;
};

export type JudgingDependencies = {
  readonly directory: Pick<Directory, "view">;
  readonly resolver: Resolver;
  /** No probe is past its retention by a clock that is in doubt. */
  readonly billingClock: Pick<Clock, "now">;
  /** Null where this server is no node of a cluster. */
  readonly shared: SigningPort | null;
};

/** Opens it, and where PROBE is set its evidence, on which the prober begins. */
export async function openJudging(
  config: Pick<Config, "dataDir" | "prober">,
  platform: Pick<Platform, "clock" | "log">,
  dependencies: JudgingDependencies,
  stack: AsyncDisposableStack,
): Promise<Judging> {
  const { dataDir, prober } = config;
  const { clock } = platform;
  let probes: ProbeStore | null = null;
  const key = loadedOnce(async () => {
    const { openSigningKey } = await import("../signing/signing-key.ts");
    const opened = openSigningKey(dataDir);
    // Before it signs: a caller whom this node answers may ask another one for the keys.
    await dependencies.shared?.shareSigningKeys(opened.publicKeys);
    return opened;
  });
  const publicKeys = async (): Promise<readonly PublicKey[]> => {
    const own = (await key.get()).publicKeys;
    if (dependencies.shared === null) return own;
    const { publicKeyOf } = await import("../signing/signing-key.ts");
    return (await dependencies.shared.sharedSigningKeys()).map(publicKeyOf);
  };
  const check = loadedOnce(async () => {
    const [{ createCheck }, opened] = await Promise.all([import("../judge/check.ts"), key.get()]);
    const ownEvidence = probes === null ? () => null : await loadOwnEvidence(probes, clock);
    return createCheck({ signingKey: opened, ownEvidence, monotonic: clock.monotonic });
  });
  const onProbed = (resource: string) => check.known()?.probed(resource);
  if (prober.isOn) probes = await startProber(config, platform, { ...dependencies, onProbed }, stack);
  return { check, publicKeys, probes };
}

async function loadOwnEvidence(probes: ProbeStore, clock: Platform["clock"]) {
  const { createOwnEvidence } = await import("../prober/own-evidence.ts");
  return createOwnEvidence(probes, clock);
}

async function startProber(
  { dataDir, prober: settings }: Pick<Config, "dataDir" | "prober">,
  { clock, log }: Pick<Platform, "clock" | "log">,
  {
    directory,
    resolver,
    billingClock,
    onProbed,
  }: Omit<JudgingDependencies, "shared"> & { readonly onProbed: (resource: string) => void },
  stack: AsyncDisposableStack,
): Promise<ProbeStore> {
  const [{ openProbes }, { createProber }, { PROBE_AGENT }, { createHttpClient }, lookups] =
    await Promise.all([
      import("../store/sqlite/side-databases/probes/open-probes.ts"),
      import("../prober/prober.ts"),
      import("../prober/opt-outs.ts"),
      import("../net/http-client.ts"),
      import("../net/address-lookup.ts"),
    ]);
  const database = openProbes(dataDir, clock);
  stack.defer(() => database[Symbol.dispose]());
  const { probes: store } = database;
  const { allowPrivate, contact } = settings;
  const client = createHttpClient(
    { lookUp: lookups.createAddressLookup(resolver), clock },
    {
      allowPrivate,
      userAgent: `${PROBE_AGENT}/1.0${contact === null ? "" : ` (+${contact})`}`,
      redirectsMax: 2,
    },
  );
  const prober = stack.use(
    createProber(
      {
        client,
        clock,
        retentionClock: billingClock,
        store,
        onProbed,
        listingCount: () => directory.view()?.snapshot.count ?? 0,
        listingAfter: (host) => listingAfter(directory, host),
        reportError: (error) => log.error("a probe failed", errorFacts(error)),
      },
      settings,
    ),
  );
  prober.start();
  return store;
}

function listingAfter(directory: Pick<Directory, "view">, host: string): ListingBody | null {
  const snapshot = directory.view()?.snapshot;
  if (snapshot === undefined) return null;
  // No host has a character below this one.
  const row = host === "" ? 0 : lowerBound(snapshot.hosts, `${host} `);
  if (row >= snapshot.count) return null;
  return listingAt(snapshot, row);
}
