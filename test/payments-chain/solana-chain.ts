import {
  type Address,
  address,
  generateKeyPairSigner,
  getAddressEncoder,
  getBase58Decoder,
  getTransactionDecoder,
  lamports,
} from "@solana/kit";
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { FailedTransactionMetadata, LiteSVM } from "litesvm";

/** A local Solana behind JSON-RPC, with USDC's mint at its real address. */

const USDC = address("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");
const ENCODE = getAddressEncoder();

export async function startSolanaChain() {
  const svm = new LiteSVM().withTransactionHistory(100_000n);
  const mint = Buffer.alloc(82);
  mint[44] = 6; // decimals
  mint[45] = 1; // initialized
  setAccount(svm, USDC, mint);
  const relayer = await generateKeyPairSigner();
  const chain: Chain = { svm, processed: new Set() };
  svm.airdrop(relayer.address, lamports(1_000_000_000_000n));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { id, method, params } = (await request.json()) as Call;
      try {
        return Response.json({ jsonrpc: "2.0", id, result: answer(chain, method, params ?? []) });
      } catch (error) {
        return Response.json({ jsonrpc: "2.0", id, error: { code: -32002, message: String(error) } });
      }
    },
  });
  const tokenAccountOf = async (owner: string): Promise<Address> => {
    const seeds = { mint: USDC, owner: address(owner), tokenProgram: TOKEN_PROGRAM_ADDRESS };
    return (await findAssociatedTokenPda(seeds))[0];
  };
  return {
    url: server.url.href,
    relayer,
    /** Opens the owner's token account with a balance. */
    fund: async (owner: string, amount: bigint): Promise<void> => {
      const data = Buffer.alloc(165);
      data.set(ENCODE.encode(USDC), 0);
      data.set(ENCODE.encode(address(owner)), 32);
      data.writeBigUInt64LE(amount, 64);
      data[108] = 1; // initialized
      setAccount(svm, await tokenAccountOf(owner), data);
    },
    balanceOf: async (owner: string): Promise<bigint> => {
      const account = svm.getAccount(await tokenAccountOf(owner));
      return account.exists ? Buffer.from(account.data).readBigUInt64LE(64) : 0n;
    },
  };
}

export type SolanaChain = Awaited<ReturnType<typeof startSolanaChain>>;

type Call = { readonly id: number; readonly method: string; readonly params?: readonly unknown[] };

/** A cluster refuses a message that it has processed, with any signature by then; the machine knows signatures alone. */
type Chain = { readonly svm: LiteSVM; readonly processed: Set<string> };

function setAccount(svm: LiteSVM, at: Address, data: Uint8Array): void {
  svm.setAccount({
    address: at,
    data,
    executable: false,
    lamports: lamports(svm.minimumBalanceForRentExemption(BigInt(data.length))),
    programAddress: TOKEN_PROGRAM_ADDRESS,
    space: BigInt(data.length),
  } as never);
}

/** The methods that clients and facilitators call. */
function answer({ svm, processed }: Chain, method: string, params: readonly unknown[]): unknown {
  const context = { slot: Number(svm.getClock().slot) };
  switch (method) {
    case "getLatestBlockhash":
      return { context, value: { blockhash: svm.latestBlockhash(), lastValidBlockHeight: 1_000_000 } };
    case "getSlot":
      return context.slot;
    case "getAccountInfo": {
      const account = svm.getAccount(address(String(params[0])));
      if (!account.exists) return { context, value: null };
      const data = [Buffer.from(account.data).toString("base64"), "base64"];
      const { executable, programAddress: owner, space, lamports: held } = account;
      return {
        context,
        value: { data, executable, owner, lamports: Number(held), space: Number(space), rentEpoch: 0 },
      };
    }
    case "simulateTransaction": {
      const transaction = decode(params[0]);
      if (processed.has(messageOf(transaction)))
        return { context, value: { err: "AlreadyProcessed", logs: [] } };
      const found = svm.withSigverify(false).simulateTransaction(transaction);
      svm.withSigverify(true);
      return { context, value: { err: errorOf(found), logs: [] } };
    }
    case "sendTransaction": {
      const transaction = decode(params[0]);
      const found = svm.sendTransaction(transaction);
      const error = errorOf(found);
      if (error !== null) throw new Error(`Transaction failed: ${JSON.stringify(error)}`);
      processed.add(messageOf(transaction));
      const [signature] = Object.values(transaction.signatures);
      return getBase58Decoder().decode(signature as Uint8Array);
    }
    case "getSignatureStatuses":
      return {
        context,
        value: [{ slot: context.slot, confirmations: 1, err: null, confirmationStatus: "confirmed" }],
      };
    default:
      throw new Error(`no method ${method}`);
  }
}

function decode(text: unknown) {
  return getTransactionDecoder().decode(Buffer.from(String(text), "base64"));
}

function messageOf({ messageBytes }: { readonly messageBytes: ArrayLike<number> }): string {
  return Buffer.from(Uint8Array.from(messageBytes)).toString("base64");
}

/** As a node says it: a failed instruction by its place, and the program's own code. */
function errorOf(found: unknown): unknown {
  if (!(found instanceof FailedTransactionMetadata)) return null;
  const error = found.err();
  if (typeof error !== "object" || !("err" in error)) return String(error);
  const cause = error.err();
  const word = typeof cause === "object" && "code" in cause ? { Custom: cause.code } : String(cause);
  return { InstructionError: [error.index, word] };
}
