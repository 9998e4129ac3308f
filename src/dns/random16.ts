/** Creates a generator of random 16-bit integers, which are drawn from the system's a thousand at a time. */
export function createRandom16(): () => number {
  const drawn = new Uint16Array(1024);
  let at = drawn.length;
  return () => {
    if (at >= drawn.length) {
      crypto.getRandomValues(drawn);
      at = 0;
    }
    return drawn[at++] ?? 0;
  };
}
