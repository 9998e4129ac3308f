import { readConfig } from "./settings.ts";

type Environment = { readonly [name: string]: string | undefined };

/** Variables of other programs whose names come close to ours. */
const OF_OTHERS: ReadonlySet<string> = new Set(["HOME", "HOSTS", "PORTS", "ASSAY_API_KEY"]);
/** A word that people put before the settings of a program. */
const PREFIX = "ASSAY_";

/** Returns a sentence for each variable that is no setting and looks like a misspelled one. */
export function settingWarnings(environment: Environment): readonly string[] {
  const names = settingNames();
  const known = new Set(names);
  return Object.keys(environment).flatMap((name) => {
    if (known.has(name) || OF_OTHERS.has(name)) return [];
    const nearest = nearestName(name, names);
    return nearest === null ? [] : [`${name} is not a setting and has no effect; did you mean ${nearest}?`];
  });
}

/** Returns every name that is asked for when the settings are read. */
export function settingNames(): readonly string[] {
  const names = new Set<string>();
  readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }), 1);
  return [...names];
}

function nearestName(name: string, names: readonly string[]): string | null {
  const bare = name.toUpperCase().replaceAll("-", "_");
  const own = bare.startsWith(PREFIX) ? bare.slice(PREFIX.length) : bare;
  const extended = names.filter((each) => each.includes("_") && lastWordsApart(own, each));
  const [first] = extended;
  if (extended.length === 1 && first !== undefined) return first;
  const distances = names.map((each) => ({ each, distance: editDistance(own, each, editsMax(each)) }));
  const near = distances.filter(({ each, distance }) => distance <= editsMax(each));
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.each ?? null;
}

/** Short names are a slip away from many words. */
function editsMax(name: string): number {
  return name.length <= 7 ? 1 : name.length <= 12 ? 2 : 3;
}

/** Whether one name is the other without its last word, as DNS_TIMEOUT is of DNS_TIMEOUT_MS. */
function lastWordsApart(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.includes("_") && long.startsWith(`${short}_`) && !long.slice(short.length + 1).includes("_");
}

/** Edits between two names, a swap of neighbours counted once; anything over `max` is returned as more. */
function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const here = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let edits = Math.min(
        (above[column] ?? 0) + 1,
        (here[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + cost,
      );
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && isSwap) edits = Math.min(edits, (before[column - 2] ?? 0) + 1);
      here.push(edits);
    }
    before = above;
    above = here;
  }
  return above[b.length] ?? 0;
}
