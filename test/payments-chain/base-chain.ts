import { join } from "node:path";
import solc from "solc";
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  http,
  nonceManager,
  parseAbi,
  publicActions,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";

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

export async function startBaseChain() {
  const port = await freePort();
  const anvil = Bun.spawn([anvilBinary(), "--chain-id", "8453", "--port", String(port), "--silent"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  const transport = http(url);
  const chain = { ...base, rpcUrls: { default: { http: [url] } } };
  const test = createTestClient({ chain, mode: "anvil", transport, pollingInterval: 20 }).extend(
    publicActions,
  );
  await answers(() => test.getBlockNumber());
  await test.setCode({ address: USDC, bytecode: compileToken() });
  const account = privateKeyToAccount(RELAYER_KEY, { nonceManager });
  const wallet = createWalletClient({ chain, account, transport });
  const minter = createWalletClient({ chain, account: privateKeyToAccount(MINTER_KEY), transport });
  let minted: Promise<unknown> = Promise.resolve();
  const client = createPublicClient({ chain, transport, pollingInterval: 20 });
  return {
    url,
    client,
    wallet,
    relayer: account.address,
    balanceOf: (address: string): Promise<bigint> =>
      client.readContract({
        address: USDC,
        abi: ABI,
        functionName: "balanceOf",
        args: [address as `0x${string}`],
      }),
    mint: (address: string, value: bigint): Promise<unknown> => {
      const args = [address as `0x${string}`, value] as const;
      // One after the other: each has to know its nonce.
      minted = minted.then(async () => {
        const hash = await minter.writeContract({ address: USDC, abi: ABI, functionName: "mint", args });
        await client.waitForTransactionReceipt({ hash });
      });
      return minted;
    },
    close: async (): Promise<void> => {
      anvil.kill("SIGKILL");
      await anvil.exited;
    },
  };
}

export type BaseChain = Awaited<ReturnType<typeof startBaseChain>>;

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

async function freePort(): Promise<number> {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
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
