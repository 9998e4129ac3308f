import { keccak_256 } from "@noble/hashes/sha3.js";

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * Returns the key by which two spellings of one payee are equal, or null for an invalid address. An EVM address has
 * its lower case as key; a mixed-case one needs a valid EIP-55 checksum, as a wrong one is a typo. Other addresses
 * are 32 bytes in base58, as Solana writes them.
 */
export function payeeKey(payTo: string): string | null {
  const isAddress = payTo.startsWith("0x") ? isEvmAddress(payTo) : isBase58Of32Bytes(payTo);
  return isAddress ? uncheckedPayeeKey(payTo) : null;
}

/**
 * Returns the key without verifying the checksum, which takes 0.1 ms: for addresses that are verified already, or
 * only compared.
 */
export function uncheckedPayeeKey(payTo: string): string {
  return payTo.startsWith("0x") ? payTo.toLowerCase() : payTo;
}

function isEvmAddress(address: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return false;
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  return digits === lower || digits === digits.toUpperCase() || digits === checksummed(lower);
}

/** Applies EIP-55: a letter is upper case where the same nibble of the hash of the lower-case digits is 8 or more. */
function checksummed(lower: string): string {
  const hash = keccak_256(Buffer.from(lower));
  let text = "";
  for (let at = 0; at < lower.length; at++) {
    const byte = hash[at >> 1] ?? 0;
    const nibble = at % 2 === 0 ? byte >> 4 : byte & 15;
    const digit = lower.charAt(at);
    text += nibble >= 8 ? digit.toUpperCase() : digit;
  }
  return text;
}

function isBase58Of32Bytes(text: string): boolean {
  if (text.length < 32 || text.length > 44) return false;
  const bytes: number[] = [];
  for (const character of text) {
    let carry = BASE58.indexOf(character);
    if (carry < 0) return false;
    for (let at = 0; at < bytes.length; at++) {
      carry += (bytes[at] ?? 0) * 58;
      bytes[at] = carry & 255;
      carry >>= 8;
    }
    while (carry > 0) {
      bytes.push(carry & 255);
      carry >>= 8;
    }
  }
  let leadingZeros = 0;
  while (text.charAt(leadingZeros) === "1") leadingZeros++;
  return bytes.length + leadingZeros === 32;
}
