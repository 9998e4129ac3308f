import { join } from "node:path";
import solc from "solc";
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  http,
  parseAbi,
  publicActions,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { createNonceManager, jsonRpc } from "viem/nonce";
import { freePort } from "../support/free-port.ts";

/** A local chain with the id of Base and a USDC at its real address. */

const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const ABI = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function mint(address to, uint256 value)",
]);
/** The first account of anvil, whose key is public. */
const RELAYER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" as const;
/** The second one, so that what it mints takes no nonce from settlements. */
const MINTER_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d" as const;
const ANVIL = join(import.meta.dir, "node_modules/@foundry-rs");

/** Starts the chain in a process of its own. */
export async function startBaseChain() {
  const port = await freePort();
  const anvil = Bun.spawn([anvilBinary(), "--chain-id", "8453", "--port", String(port), "--silent"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  // It would outlive a process that is ended by a signal.
  process.once("exit", () => anvil.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  const { chain, transport } = reach(url);
  const test = createTestClient({ chain, mode: "anvil", transport, pollingInterval: 20 }).extend(
    publicActions,
  );
  await answers(() => test.getBlockNumber());
  await test.setCode({ address: USDC, bytecode: compileToken() });
  return {
    url,
    close: async (): Promise<void> => {
      anvil.kill("SIGKILL");
      await anvil.exited;
    },
  };
}

/** Returns what the tests do on the chain: they look at balances and mint. */
export function openTreasury(url: string) {
  const { chain, transport } = reach(url);
  const account = privateKeyToAccount(MINTER_KEY, { nonceManager: newNonces() });
  const minter = createWalletClient({ chain, account, transport });
  const inTurn = createTurns();
  const client = createPublicClient({ chain, transport, pollingInterval: 20 });
  return {
    balanceOf: (address: string): Promise<bigint> =>
      client.readContract({
        address: USDC,
        abi: ABI,
        functionName: "balanceOf",
        args: [address as `0x${string}`],
      }),
    mint: async (address: string, value: bigint): Promise<void> => {
      const args = [address as `0x${string}`, value] as const;
      const hash = await inTurn(() =>
        minter.writeContract({
          address: USDC,
          abi: ABI,
          functionName: "mint",
          args,
          // So that no estimate has to be asked for.
          gas: 100_000n,
        }),
      );
      await client.waitForTransactionReceipt({ hash });
    },
  };
}

/** Returns what a facilitator needs of the chain: clients, and an account that pays for gas. */
export function openRelayer(url: string) {
  const { chain, transport } = reach(url);
  const account = privateKeyToAccount(RELAYER_KEY, { nonceManager: newNonces() });
  const wallet = createWalletClient({ chain, account, transport });
  const inTurn = createTurns();
  return {
    client: createPublicClient({ chain, transport, pollingInterval: 20 }),
    wallet: {
      writeContract: (args: never) => inTurn(() => wallet.writeContract(args)),
      sendTransaction: (args: never) => inTurn(() => wallet.sendTransaction(args)),
    },
    relayer: account.address,
  };
}

export type Relayer = ReturnType<typeof openRelayer>;

/**
 * Returns what sends one transaction of an account after the other. With one that fails the package forgets the nonces
 * that it gave to those which are not on their way yet, and gives them to others, too: of two with the same nonce one is
 * refused, or replaced and never mined.
 */
function createTurns(): <T>(send: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (send) => {
    const sent = last.then(send);
    last = sent.catch(() => undefined);
    return sent;
  };
}

/** One for each chain: the package's own goes on counting on the next one. */
const newNonces = () => createNonceManager({ source: jsonRpc() });

function reach(url: string) {
  return { chain: { ...base, rpcUrls: { default: { http: [url] } } }, transport: http(url) };
}

function anvilBinary(): string {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  return join(ANVIL, `anvil-${process.platform}-${arch}/bin/anvil`);
}

/** Returns the code as it stands on a chain; constants are in the code, so no constructor has to run. */
function compileToken(): `0x${string}` {
  const content = require("node:fs").readFileSync(join(import.meta.dir, "usd-coin.sol"), "utf8");
  const input = {
    language: "Solidity",
    sources: { "usd-coin.sol": { content } },
    settings: { outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } } },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const object = output.contracts?.["usd-coin.sol"]?.UsdCoin?.evm.deployedBytecode.object;
  if (typeof object !== "string")
    throw new Error(`the token does not compile: ${JSON.stringify(output.errors)}`);
  return `0x${object}`;
}

async function answers(ask: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await Bun.sleep(20);
    }
  }
}
