/** A network that payments are taken on, with its USDC (6 decimals everywhere, so an atomic unit is a micro-USD). */
export type Network = {
  /** CAIP-2, as version 2 of x402 names it. */
  readonly id: string;
  /** The name in version 1 of x402. */
  readonly alias: string;
  readonly kind: "evm" | "solana";
  readonly isTest: boolean;
  /** The address of USDC. */
  readonly usdc: string;
  /** Name and version of USDC's EIP-712 domain; null on Solana. */
  readonly domain: { readonly name: string; readonly version: string } | null;
};

/** Sources: Circle's list of USDC contracts, the x402 specification's list of networks. */
export const NETWORKS: readonly Network[] = [
  {
    id: "eip155:8453",
    alias: "base",
    kind: "evm",
    isTest: false,
    usdc: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    domain: { name: "USD Coin", version: "2" },
  },
  {
    id: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    alias: "solana",
    kind: "solana",
    isTest: false,
    usdc: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    domain: null,
  },
  {
    id: "eip155:84532",
    alias: "base-sepolia",
    kind: "evm",
    isTest: true,
    usdc: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    domain: { name: "USDC", version: "2" },
  },
  {
    id: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
    alias: "solana-devnet",
    kind: "solana",
    isTest: true,
    usdc: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
    domain: null,
  },
];

/** Returns the name in version 1 of x402 of a network, or its id where it is not known. */
export function aliasOf(network: string): string {
  return findNetwork(network)?.alias ?? network;
}

/** Returns the network of a CAIP-2 id or of a name of version 1, or null. */
export function findNetwork(name: string): Network | null {
  return NETWORKS.find(({ id, alias }) => id === name || alias === name) ?? null;
}
