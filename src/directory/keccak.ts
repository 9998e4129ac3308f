/** Round constants of Keccak-f[1600], high and low halves. */
const ROUND_HIGH = [
  0x00000000, 0x00000000, 0x80000000, 0x80000000, 0x00000000, 0x00000000, 0x80000000, 0x80000000, 0x00000000,
  0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000,
  0x00000000, 0x80000000, 0x80000000, 0x80000000, 0x00000000, 0x80000000,
];
const ROUND_LOW = [
  0x00000001, 0x00008082, 0x0000808a, 0x80008000, 0x0000808b, 0x80000001, 0x80008081, 0x00008009, 0x0000008a,
  0x00000088, 0x80008009, 0x8000000a, 0x8000808b, 0x0000008b, 0x00008089, 0x00008003, 0x00008002, 0x00000080,
  0x0000800a, 0x8000000a, 0x80008081, 0x00008080, 0x80000001, 0x80008008,
];
const RATE_BYTES = 136;

/**
 * Keccak-256 with the original padding (0x01), as Ethereum uses it: not SHA3-256. For one block of input,
 * at most 135 ASCII characters. Specification: https://keccak.team/keccak_specs_summary.html
 */
export function keccak256(ascii: string): Uint8Array {
  if (ascii.length >= RATE_BYTES)
    throw new Error(`keccak256 takes one block, not ${ascii.length} characters.`);
  const block = new Uint8Array(200);
  for (let at = 0; at < ascii.length; at++) block[at] = ascii.charCodeAt(at);
  block[ascii.length] = 0x01;
  block[RATE_BYTES - 1] = (block[RATE_BYTES - 1] ?? 0) | 0x80;
  const view = new DataView(block.buffer);
  const low = new Int32Array(25);
  const high = new Int32Array(25);
  for (let lane = 0; lane < 25; lane++) {
    low[lane] = view.getInt32(lane * 8, true);
    high[lane] = view.getInt32(lane * 8 + 4, true);
  }
  for (let round = 0; round < 24; round++) permute(low, high, round);
  const digest = new DataView(new ArrayBuffer(32));
  for (let lane = 0; lane < 4; lane++) {
    digest.setInt32(lane * 8, low[lane] ?? 0, true);
    digest.setInt32(lane * 8 + 4, high[lane] ?? 0, true);
  }
  return new Uint8Array(digest.buffer);
}

function permute(low: Int32Array, high: Int32Array, round: number): void {
  theta(low, high);
  const [movedLow, movedHigh] = rhoAndPi(low, high);
  for (let y = 0; y < 25; y += 5) {
    for (let x = 0; x < 5; x++) {
      const [next, after] = [y + ((x + 1) % 5), y + ((x + 2) % 5)];
      low[y + x] = lane(movedLow, y + x) ^ (~lane(movedLow, next) & lane(movedLow, after));
      high[y + x] = lane(movedHigh, y + x) ^ (~lane(movedHigh, next) & lane(movedHigh, after));
    }
  }
  low[0] = lane(low, 0) ^ (ROUND_LOW[round] ?? 0);
  high[0] = lane(high, 0) ^ (ROUND_HIGH[round] ?? 0);
}

function theta(low: Int32Array, high: Int32Array): void {
  const parityLow = new Int32Array(5);
  const parityHigh = new Int32Array(5);
  for (let at = 0; at < 25; at++) {
    parityLow[at % 5] = lane(parityLow, at % 5) ^ lane(low, at);
    parityHigh[at % 5] = lane(parityHigh, at % 5) ^ lane(high, at);
  }
  for (let at = 0; at < 25; at++) {
    const [before, next] = [(at + 4) % 5, (at + 1) % 5];
    const [nextLow, nextHigh] = [lane(parityLow, next), lane(parityHigh, next)];
    low[at] = lane(low, at) ^ lane(parityLow, before) ^ ((nextLow << 1) | (nextHigh >>> 31));
    high[at] = lane(high, at) ^ lane(parityHigh, before) ^ ((nextHigh << 1) | (nextLow >>> 31));
  }
}

/** Walks the 24 lanes of the cycle: the lane at (x, y) moves to (y, 2x + 3y), turned by the triangular numbers. */
function rhoAndPi(low: Int32Array, high: Int32Array): [Int32Array, Int32Array] {
  const movedLow = Int32Array.from(low);
  const movedHigh = Int32Array.from(high);
  let [x, y] = [1, 0];
  for (let step = 0; step < 24; step++) {
    const from = x + 5 * y;
    [x, y] = [y, (2 * x + 3 * y) % 5];
    const to = x + 5 * y;
    const turn = (((step + 1) * (step + 2)) / 2) % 64;
    const [first, second] =
      turn < 32 ? [lane(low, from), lane(high, from)] : [lane(high, from), lane(low, from)];
    const bits = turn % 32;
    movedLow[to] = bits === 0 ? first : (first << bits) | (second >>> (32 - bits));
    movedHigh[to] = bits === 0 ? second : (second << bits) | (first >>> (32 - bits));
  }
  return [movedLow, movedHigh];
}

function lane(lanes: Int32Array, at: number): number {
  return lanes[at] ?? 0;
}
