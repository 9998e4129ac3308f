import { createAddressParser } from "../email/address.ts";
import { type Item, readItems } from "./items.ts";
import { type Chunk, NO_DOMAIN, type SplitEvent, type SplitOutcome, type SplitTask } from "./messages.ts";
import { findRepeats } from "./repeats.ts";

/**
 * Reads a batch body and cuts it into chunks: checks each item's type, marks repeats and lists the mail domains
 * that are needed. Tells the chunks while it goes on, a few at first and then more at a time. Runs in a worker
 * thread, or inline for a small body. Never throws.
 */
export type SplitBatch = (task: SplitTask, tell: (event: SplitEvent) => void) => SplitOutcome;

/** Chunks that are told together at first; then twice as many each time, as telling costs the one who hears. */
const CHUNKS_TOLD_FIRST = 2;

/** What is remembered from batch to batch only saves time. */
export function createSplitBatch(): SplitBatch {
  const { mailDomainOf } = createAddressParser();
  return (task, tell) => {
    const read = readItems(task.kind, task.form, task.body, task.itemsMax);
    if (!read.ok) return read;
    const { items, options } = read;
    tell({ head: { count: items.length, chunkCount: Math.ceil(items.length / task.chunkItems), options } });
    const repeats = findRepeats(items);
    const domains = new Map<string, number>();
    let chunks: Chunk[] = [];
    let toldTogether = CHUNKS_TOLD_FIRST;
    for (let start = 0; start < items.length; start += task.chunkItems) {
      const slice = items.slice(start, start + task.chunkItems);
      const mail =
        task.kind === "email"
          ? numberDomains(slice, domains, mailDomainOf)
          : { newDomains: "", domainNumbers: null };
      const { length: count } = slice;
      const chunk = { items: JSON.stringify(slice), count, repeats: repeats.inRun(start, start + count) };
      chunks.push({ position: start, ...chunk, ...mail });
      if (chunks.length < toldTogether) continue;
      tell({ chunks });
      chunks = [];
      toldTogether *= 2;
    }
    if (chunks.length > 0) tell({ chunks });
    return { ok: true, distinct: repeats.distinct() };
  };
}

/** Numbers the domains of the items on from those of earlier chunks. */
function numberDomains(
  items: readonly Item[],
  numbers: Map<string, number>,
  mailDomainOf: (text: string) => string | null,
): Pick<Chunk, "newDomains" | "domainNumbers"> {
  const added: string[] = [];
  const domainNumbers = new Uint32Array(items.length);
  let position = 0;
  for (const item of items) {
    const domain = typeof item === "string" ? mailDomainOf(item) : null;
    let number = domain === null ? NO_DOMAIN : numbers.get(domain);
    if (domain !== null && number === undefined) {
      number = numbers.size;
      numbers.set(domain, number);
      added.push(domain);
    }
    domainNumbers[position] = number ?? NO_DOMAIN;
    position += 1;
  }
  return { newDomains: added.join("\n"), domainNumbers };
}
