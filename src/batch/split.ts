import { type AddressParser, createAddressParser } from "../verification/email/address.ts";
import { readItems } from "./body-items.ts";
import { findRepeats } from "./duplicates.ts";
import { ITEM_UNITS_MAX, type Items } from "./items.ts";
import { type Chunk, NO_DOMAIN, type SplitEvent, type SplitOutcome, type SplitTask } from "./messages.ts";

/**
 * Reads a batch body and cuts it into chunks: checks each item's type, marks repeats and lists the mail domains
 * that are needed. Tells the chunks while it goes on, a few at first and then more at a time. Runs in a worker
 * thread, or inline for a small body. Never throws.
 */
export type SplitBatch = (task: SplitTask, tell: (event: SplitEvent) => void) => SplitOutcome;

/** Chunks that are told together at first; then twice as many each time, as telling costs the one who hears. */
const CHUNKS_TOLD_FIRST = 2;
/** To hear of so many of the largest chunks takes under 2 ms. */
const CHUNKS_TOLD_MAX = 8;

/** What is remembered from batch to batch only saves time. */
export function createSplitBatch(): SplitBatch {
  const parser = createAddressParser();
  return (task, tell) => {
    const read = readItems(task.kind, task.form, task.body, task.itemsMax);
    if (!read.ok) return read;
    const { items, options } = read;
    const { count } = items;
    const ends = chunkEnds(items, chunkItemsFor(count, task));
    tell({ head: { count, chunkCount: ends.length, options } });
    const repeats = findRepeats(items);
    const domains = new Map<string, number>();
    let chunks: Chunk[] = [];
    let toldTogether = CHUNKS_TOLD_FIRST;
    let start = 0;
    for (const end of ends) {
      const mail =
        task.kind === "email"
          ? numberDomains(items, start, end, domains, parser)
          : { newDomains: "", domainNumbers: null };
      const chunk = { items: items.json(start, end), count: end - start, repeats: repeats.inRun(start, end) };
      chunks.push({ position: start, ...chunk, ...mail });
      start = end;
      if (chunks.length < toldTogether) continue;
      tell({ chunks });
      chunks = [];
      toldTogether = Math.min(toldTogether * 2, CHUNKS_TOLD_MAX);
    }
    if (chunks.length > 0) tell({ chunks });
    return { ok: true, distinct: repeats.distinct() };
  };
}

/** Enough chunks to keep all threads busy to the end: what a chunk costs beside its items grows with their number. */
const CHUNKS_ENOUGH = 25;

function chunkItemsFor(
  count: number,
  { chunkItemsMin, chunkItemsMax }: Pick<SplitTask, "chunkItemsMin" | "chunkItemsMax">,
): number {
  return Math.min(Math.max(Math.ceil(count / CHUNKS_ENOUGH), chunkItemsMin), chunkItemsMax);
}

/**
 * UTF-16 units in a chunk of more than one item: its text and its results cross threads in one piece, and hearing of
 * them may not keep the main thread. Four thousand addresses of 60 characters are one chunk.
 */
const CHUNK_UNITS_MAX = 262_144;

/** The position behind the last item of each chunk. */
function chunkEnds({ count, from, end }: Items, chunkItems: number): readonly number[] {
  const ends: number[] = [];
  let start = 0;
  let units = 0;
  for (let at = 0; at < count; at++) {
    const itemUnits = Math.min(end(at) - from(at), ITEM_UNITS_MAX);
    if (at > start && (at - start === chunkItems || units + itemUnits > CHUNK_UNITS_MAX)) {
      ends.push(at);
      start = at;
      units = 0;
    }
    units += itemUnits;
  }
  if (count > start) ends.push(count);
  return ends;
}

/** Numbers the domains of a run of items on from those of earlier ones. */
function numberDomains(
  items: Items,
  start: number,
  end: number,
  numbers: Map<string, number>,
  parser: AddressParser,
): Pick<Chunk, "newDomains" | "domainNumbers"> {
  const added: string[] = [];
  const domainNumbers = new Uint32Array(end - start);
  for (let at = start; at < end; at++) {
    const domain = parser.mailDomainIn(items.holder(at), items.from(at), items.end(at));
    let number = domain === null ? NO_DOMAIN : numbers.get(domain);
    if (domain !== null && number === undefined) {
      number = numbers.size;
      numbers.set(domain, number);
      added.push(domain);
    }
    domainNumbers[at - start] = number ?? NO_DOMAIN;
  }
  return { newDomains: added.join("\n"), domainNumbers };
}
