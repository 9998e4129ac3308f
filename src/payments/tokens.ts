import { findNetwork } from "./networks.ts";

/** A token that is known on a main or test network. */
export type Token = {
  readonly asset: string;
  readonly decimals: number;
  /** The stablecoin that payments are usually asked in there. */
  readonly isUsual: boolean;
  /** Name and version of its EIP-712 domain; null on Solana. */
  readonly domain: { readonly name: string; readonly version: string } | null;
};

export type KnownNetwork = {
  /** CAIP-2. */
  readonly id: string;
  readonly isTest: boolean;
  readonly kind: "evm" | "solana" | "other";
  /** Empty where none is known. */
  readonly tokens: readonly Token[];
};

function usual(asset: string, name = "USD Coin", version = "2", decimals = 6): Token {
  return { asset, decimals, isUsual: true, domain: { name, version } };
}

function other(asset: string, name: string, version: string): Token {
  return { ...usual(asset, name, version), isUsual: false };
}

function onSolana(asset: string): Token {
  return { asset, decimals: 6, isUsual: false, domain: null };
}

/**
 * Tokens beside the USDC of the networks that payments are taken on. Sources: the default assets of `@x402/evm` and
 * `@x402/svm` 2.27.0, Circle's list of EURC contracts.
 */
const TOKENS: { readonly [network: string]: readonly Token[] } = {
  "eip155:1": [usual("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")],
  "eip155:14": [usual("0xe7cd86e13AC4309349F30B3435a9d337750fC82D", "USD₮0", "1")],
  "eip155:50": [usual("0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1", "USDC")],
  "eip155:137": [usual("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359")],
  "eip155:143": [usual("0x754704Bc059F8C67012fEd69BC8A327a5aafb603", "USDC")],
  "eip155:988": [usual("0x779Ded0c9e1022225f8E0630b35a9b54bE713736", "USDT0", "1")],
  "eip155:1329": [usual("0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392", "USDC")],
  "eip155:4326": [usual("0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7", "MegaUSD", "1", 18)],
  "eip155:8453": [other("0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42", "EURC", "2")],
  "eip155:42161": [usual("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")],
  "eip155:42220": [
    usual("0xcebA9300f2b948710d2653dD7B07f33A8B32118C", "USDC"),
    other("0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e", "Tether USD", "1"),
    other("0xD2ab3C9A02DBBAB236BfEC45D1d755DF4267F771", "Tether America USD", "1"),
  ],
  "eip155:43114": [usual("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E")],
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": [
    onSolana("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"),
    onSolana("2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH"),
    onSolana("2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"),
  ],
};
/** Main networks on which no token is known here. */
const OTHER_MAINNETS: ReadonlySet<string> = new Set([
  ...["eip155:10", "eip155:56", "eip155:130", "eip155:146", "eip155:480", "eip155:1514", "eip155:2741"],
  ...["eip155:3338", "eip155:4689", "eip155:31612", "eip155:36900", "eip155:38833", "eip155:41923"],
  ...["eip155:59144", "eip155:190415", "eip155:723487", "aptos:1", "stellar:pubnet"],
]);
/** Names of version 1 beside those of the networks that payments are taken on. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["ethereum", "eip155:1"],
  ["abstract", "eip155:2741"],
  ["avalanche", "eip155:43114"],
  ["iotex", "eip155:4689"],
  ["sei", "eip155:1329"],
  ["polygon", "eip155:137"],
  ["peaq", "eip155:3338"],
  ["story", "eip155:1514"],
  ["educhain", "eip155:41923"],
  ["megaeth", "eip155:4326"],
  ["monad", "eip155:143"],
  ["stable", "eip155:988"],
  ["celo", "eip155:42220"],
  ["flare", "eip155:14"],
]);

/** Returns the CAIP-2 id of a network that is named by it or by its name of version 1. */
function idOf(name: string): string {
  return findNetwork(name)?.id ?? ALIASES.get(name) ?? name;
}

/** Returns a network by its CAIP-2 id or its name of version 1; null for one that is not known to be one. */
export function findKnownNetwork(name: string): KnownNetwork | null {
  const id = idOf(name);
  const own = findNetwork(id);
  const more = Object.hasOwn(TOKENS, id) ? (TOKENS[id] ?? []) : [];
  if (own === null && more.length === 0 && !OTHER_MAINNETS.has(id)) return null;
  const usdc: readonly Token[] =
    own === null ? [] : [{ asset: own.usdc, decimals: 6, isUsual: true, domain: own.domain }];
  return { id, isTest: own?.isTest === true, kind: kindOf(id), tokens: [...usdc, ...more] };
}

/** How an address is written on EVM networks, in any case. */
export const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Returns what kind of addresses a network has, by its id or name. */
export function kindOf(name: string): KnownNetwork["kind"] {
  const id = idOf(name);
  if (id.startsWith("eip155:")) return "evm";
  return id.startsWith("solana:") ? "solana" : "other";
}

const MICRO_USD = 1_000_000n;

/** Returns atomic units of a token as micro-USD, rounded up: never less than what is asked. */
export function microUsdOfUnits(units: bigint, { decimals }: Pick<Token, "decimals">): bigint {
  const unitsOfOne = 10n ** BigInt(decimals);
  return (units * MICRO_USD + unitsOfOne - 1n) / unitsOfOne;
}

/** Returns the token of an address on a network, or null. */
export function findToken({ kind, tokens }: KnownNetwork, asset: string): Token | null {
  const isSame = (one: string) =>
    kind === "evm" ? one.toLowerCase() === asset.toLowerCase() : one === asset;
  return tokens.find((token) => isSame(token.asset)) ?? null;
}

/** An amount of a token, as a way to pay names it. */
export type TokenAmount = { readonly network: string; readonly asset: string; readonly units: bigint };

/** Returns what an amount costs in micro-USD, on a test network too; null where its token is not known. */
export function microUsdOf({ network: name, asset, units }: TokenAmount): bigint | null {
  const network = findKnownNetwork(name);
  const token = network === null ? null : findToken(network, asset);
  return token === null ? null : microUsdOfUnits(units, token);
}

/** Listed prices have at most nine digits before the point. */
const LISTED_MICRO_USD_MAX = 999_999_999_999_999n;

/**
 * Returns the price that a listing shows for an amount, in micro-USD; null for one that is too large to be listed. A token
 * that is not known is read as USDC, whose atomic unit is a micro-USD.
 */
export function listedMicroUsd(amount: TokenAmount): number | null {
  const microUsd = microUsdOf(amount) ?? amount.units;
  return microUsd <= LISTED_MICRO_USD_MAX ? Number(microUsd) : null;
}
