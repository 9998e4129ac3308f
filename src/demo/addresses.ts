const FIRST_NAMES = ["ana", "ben", "chloe", "diego", "emma", "farid", "grace", "hugo", "ines", "jonas"];
const LAST_NAMES = [
  "silva",
  "meyer",
  "rossi",
  "tanaka",
  "novak",
  "dubois",
  "costa",
  "larsen",
  "khan",
  "brown",
];

/** How many of a thousand are of which kind; `n` makes them differ. */
const KINDS: readonly (readonly [count: number, address: (n: number) => string])[] = [
  [380, (n) => `${person(n)}@team${n % 40}.customers.net`],
  [160, (n) => `${person(n)}@gmail.com`],
  [80, (n) => `${person(n)}@outlook.com`],
  [60, (n) => `${person(n)}@northwind-paper.com`],
  [60, (n) => `${["info", "sales", "support", "noreply", "admin"][n % 5]}@team${n}.customers.net`],
  [40, (n) => `${person(n)}@mailinator.com`],
  [30, (n) => `${person(n)}@gmial.com`],
  [20, (n) => `${person(n)}@website-only.net`],
  [10, (n) => `${person(n)}@address-as-host.net`],
  [20, (n) => `${"xkqzvwjbtrpnmhd".slice(n % 5)}${n}qzxv@gmail.com`],
  [20, (n) => `${person(n)}@parked-names.net`],
  [15, (n) => `${person(n)}@no-records.net`],
  [10, (n) => `${person(n)}@inside-only.net`],
  [10, (n) => `${person(n)}@left-behind.net`],
  [15, (n) => `${person(n)}@never-registered-${n}.com`],
  [10, (n) => `${person(n)}@company.conn`],
  [5, (n) => `${person(n)}@localhost.test`],
  [15, (n) => person(n).replace(".", " at ")],
  [10, (n) => `${person(n).replace(".", "..")}@gmail.com`],
  [10, (n) => `${person(n)}@broken-servers.net`],
];

/** Returns a thousand addresses of every kind, mixed, the same each time; twenty of them are repeats. */
export function demoAddresses(): readonly string[] {
  const addresses = KINDS.flatMap(([count, address]) => Array.from({ length: count }, (_, n) => address(n)));
  const repeats = addresses.slice(0, 20);
  const all = [...addresses.slice(0, 1000 - repeats.length), ...repeats];
  // 389 and 1000 have no common factor: every address is taken once.
  return all.map((_, position) => all[(position * 389) % all.length] ?? "");
}

function person(n: number): string {
  const first = FIRST_NAMES[n % FIRST_NAMES.length] ?? "";
  const last = LAST_NAMES[Math.floor(n / FIRST_NAMES.length) % LAST_NAMES.length] ?? "";
  const round = Math.floor(n / (FIRST_NAMES.length * LAST_NAMES.length));
  return `${first}.${last}${round === 0 ? "" : round + 1}`;
}
