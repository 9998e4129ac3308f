/** Adjacent keys of QWERTY, QWERTZ and AZERTY keyboards, and adjacent letters of the alphabet. */

const keyboards: readonly (readonly string[])[] = [
  ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"],
  ["1234567890", "qwertzuiop", "asdfghjkl", "yxcvbnm"],
  ["1234567890", "azertyuiop", "qsdfghjklm", "wxcvbn"],
  ["abcdefghijklmnopqrstuvwxyz"],
];
const steps = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
  [1, -1],
  [-1, 1],
] as const;
export const keyCount = 36;

/** Index of a key by ASCII code: 0 to 9 for digits, 10 to 35 for letters, either case. */
export const keyOfCode: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return code - 87;
  if (code >= 65 && code <= 90) return code - 55;
  return code >= 48 && code <= 57 ? code - 48 : 0;
});

/**
 * For each ordered pair of keys one bit for every keyboard and direction in which the second follows the first.
 * Two digits have none: 1234 behind a name is common, and no keyboard walk.
 */
export const keySteps: Int32Array = (() => {
  const table = new Int32Array(keyCount * keyCount);
  keyboards.forEach((rows, board) => {
    rows.forEach((row, y) => {
      for (let x = 0; x < row.length; x++) {
        steps.forEach(([dx, dy], direction) => {
          const next = rows[y + dy]?.[x + dx];
          if (next === undefined) return;
          const from = keyOfCode[row.charCodeAt(x)] ?? 0;
          const to = keyOfCode[next.charCodeAt(0)] ?? 0;
          if (from < 10 && to < 10) return;
          const index = from * keyCount + to;
          table[index] = (table[index] ?? 0) | (1 << (board * steps.length + direction));
        });
      }
    });
  });
  return table;
})();
