/** Bytes of a signature, a key and a block hash. */
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSIONED = 0x80;

/**
 * Returns the message of a Solana transaction, legacy or version 0; null where its encoding is not canonical to the last
 * byte. Facilitators that parse it less strictly would take the same transfer for another payment.
 */
export function solanaMessage(transaction: Uint8Array): Uint8Array | null {
  const outer = createReader(transaction);
  const signatures = outer.count();
  outer.skip(signatures * SIGNATURE_BYTES);
  const message = transaction.subarray(outer.at());
  const { byte, count, skip, at } = createReader(message);
  const isVersioned = ((message[0] ?? 0) & VERSIONED) !== 0;
  if (isVersioned && byte() !== VERSIONED) return null;
  const required = byte();
  skip(2);
  skip(count() * KEY_BYTES + KEY_BYTES);
  /** Instructions and address look-ups have the same encoding after their first field. */
  const list = (headBytes: number): void => {
    for (let entries = count(); entries > 0 && at() <= message.length; entries -= 1) {
      skip(headBytes);
      skip(count());
      skip(count());
    }
  };
  list(1);
  if (isVersioned) list(KEY_BYTES);
  return signatures > 0 && signatures === required && at() === message.length ? message : null;
}

/** A reader of bytes. Past their end, or at a count that is not minimal, its position is invalid. */
function createReader(bytes: Uint8Array) {
  let next = 0;
  const skip = (length: number): void => {
    next += length;
  };
  const byte = (): number => {
    next += 1;
    return bytes[next - 1] ?? Number.NaN;
  };
  /** A count of up to 16 bits, seven in a byte, the lowest first. */
  const count = (): number => {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const read = byte();
      value |= (read & 0x7f) << shift;
      if (read < 0x80) return (read === 0 && shift > 0) || value > 0xffff ? Number.NaN : value;
    }
    return Number.NaN;
  };
  return { skip, byte, count, at: () => next };
}
