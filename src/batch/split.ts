import { type AddressParser, createAddressParser } from "../email/address.ts";
import { type Item, readItems } from "./items.ts";
import type { Chunk, SplitOutcome, SplitTask } from "./messages.ts";

/**
 * Reads a batch body and cuts it into chunks: checks each item's type, marks repeats and lists the mail
 * domains that each chunk needs. Runs in a worker thread, or inline for a small body. Never throws.
 */
export function splitBatch(task: SplitTask): SplitOutcome {
  const read = readItems(task.kind, task.form, task.body, task.itemsMax);
  if (!read.ok) return read;
  const { items, options } = read;
  const parser = createAddressParser();
  const seen = new Set<string>();
  const chunks: Chunk[] = [];
  for (let start = 0; start < items.length; start += task.chunkItems) {
    const slice = items.slice(start, start + task.chunkItems);
    const repeats = markRepeats(slice, seen);
    const domains = task.kind === "email" ? mailDomains(slice, parser) : "";
    chunks.push({ position: start, items: JSON.stringify(slice), count: slice.length, repeats, domains });
  }
  return { ok: true, count: items.length, distinct: seen.size, options, chunks };
}

/** An item repeats another where its text is the same to the letter (and its type, for a document). */
function markRepeats(items: readonly Item[], seen: Set<string>): number[] {
  const repeats: number[] = [];
  for (const [position, item] of items.entries()) {
    const before = seen.size;
    seen.add(typeof item === "string" ? item : `${item[0] ?? ""}\n${item[1]}`);
    if (seen.size === before) repeats.push(position);
  }
  return repeats;
}

function mailDomains(items: readonly Item[], { mailDomainOf }: AddressParser): string {
  const domains = new Set<string>();
  for (const item of items) {
    const domain = typeof item === "string" ? mailDomainOf(item) : null;
    if (domain !== null) domains.add(domain);
  }
  return [...domains].join("\n");
}
