import { expect, test } from "bun:test";
import fc from "fast-check";
import { microUsdOfUnits } from "../../src/payments/tokens.ts";

const UINT256_MAX = 2n ** 256n - 1n;

test("an amount of a token of 0 to 18 decimals costs the fewest micro-USD that are not less than it", () => {
  const units = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 19n }), fc.bigInt({ min: 0n, max: UINT256_MAX }));
  fc.assert(
    fc.property(units, fc.integer({ min: 0, max: 18 }), (amount, decimals) => {
      const microUsd = microUsdOfUnits(amount, { decimals });
      const unitsOf = (micro: bigint) => micro * 10n ** BigInt(decimals);
      const asked = amount * 10n ** 6n;
      expect(unitsOf(microUsd)).toBeGreaterThanOrEqual(asked);
      expect(unitsOf(microUsd - 1n)).toBeLessThan(asked);
    }),
  );
});

test("an amount costs what its decimals say, and a part of a micro-USD costs one", () => {
  const costs = [
    [0, 3n, 3_000_000n],
    [2, 150n, 1_500_000n],
    [6, 50_000n, 50_000n],
    [18, 1n, 1n],
    [18, 10n ** 12n + 1n, 2n],
  ] as const;
  for (const [decimals, amount, microUsd] of costs) {
    expect(microUsdOfUnits(amount, { decimals })).toBe(microUsd);
  }
});
