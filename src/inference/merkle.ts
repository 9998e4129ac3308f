import { sha256 } from "../platform/sha256.ts";

/** An append-only Merkle tree (RFC 9162, 2.1): its perfect subtrees, the largest first. */
export type MerkleTree = readonly MerkleSubtree[];

type MerkleSubtree = {
  readonly leaves: number;
  /** SHA-256 in hex. */
  readonly hash: string;
};

/** Returns the hash of an entry. */
export function leafHash(entry: string): string {
  return new Bun.CryptoHasher("sha256")
    .update(new Uint8Array([0]))
    .update(entry)
    .digest("hex");
}

/** Returns the tree with one more leaf. The number of subtrees is logarithmic. */
export function withLeaf(tree: MerkleTree, hash: string): MerkleTree {
  const subtrees = [...tree];
  let added: MerkleSubtree = { leaves: 1, hash };
  for (let last = subtrees.at(-1); last?.leaves === added.leaves; last = subtrees.at(-1)) {
    subtrees.pop();
    added = { leaves: last.leaves * 2, hash: nodeHash(last.hash, added.hash) };
  }
  return [...subtrees, added];
}

/** Returns the root of a tree, in hex; that of no leaves is the SHA-256 of nothing. */
export function rootOf(tree: MerkleTree): string {
  const last = tree.at(-1);
  if (last === undefined) return sha256("");
  return tree.slice(0, -1).reduceRight((right, { hash }) => nodeHash(hash, right), last.hash);
}

export function leavesOf(tree: MerkleTree): number {
  return tree.reduce((sum, { leaves }) => sum + leaves, 0);
}

function nodeHash(left: string, right: string): string {
  return new Bun.CryptoHasher("sha256")
    .update(new Uint8Array([1]))
    .update(Buffer.from(left, "hex"))
    .update(Buffer.from(right, "hex"))
    .digest("hex");
}
