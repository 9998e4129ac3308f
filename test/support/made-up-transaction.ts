const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;

/** Returns the bytes of a Solana transaction of version 0 as the chain writes it; each seed makes another. */
export function madeUpTransaction(seed: number): Buffer {
  const [payer, program] = [1, 2].map((n) => Buffer.alloc(KEY_BYTES, n));
  return Buffer.concat([
    Buffer.of(2),
    Buffer.alloc(2 * SIGNATURE_BYTES),
    Buffer.of(0x80, 2, 1, 1, 3, ...(payer ?? []), ...Buffer.alloc(KEY_BYTES, 3), ...(program ?? [])),
    Buffer.alloc(KEY_BYTES, 4),
    // Two instructions: one with accounts and data, and a memo that differs.
    Buffer.of(2, 2, 2, 0, 1, 9, 3, 0, 0, 0, 0, 0, 0, 0, 6, 2, 0),
    Buffer.of(0x80, 1, ...Buffer.from(`${seed}`.padStart(128, "0"))),
    Buffer.of(1, ...Buffer.alloc(KEY_BYTES, 5), 1, 0, 0),
  ]);
}
