import type { Steps } from "../platform/steps.ts";
import type { Evidence, Exchange } from "./evidence.ts";

/**
 * Evidence as it is stored: JSON with a line for each exchange, compressed, in base64. It may be megabytes, of a target that
 * wants to hold others up, and is written and read a line at a time.
 */

/** Returns evidence as it is stored. */
export async function packEvidence({ exchanges, ...rest }: Evidence, step: Steps): Promise<string> {
  const lines: string[] = [];
  for (const exchange of exchanges) lines.push(await step(() => JSON.stringify(exchange)));
  const text = `${JSON.stringify(rest).slice(0, -1)},"exchanges":[\n${lines.join(",\n")}\n]}`;
  const packed = await Bun.zstdCompress(text, { level: 1 });
  return step(() => Buffer.from(packed).toString("base64"));
}

/** Returns stored evidence as JSON. */
export async function evidenceText(packed: string, step: Steps): Promise<string> {
  const bytes = await step(() => Buffer.from(packed, "base64"));
  const text = await Bun.zstdDecompress(bytes);
  return step(() => Buffer.from(text).toString("utf8"));
}

/** Returns stored evidence, also of a report of a former version. */
export async function unpackEvidence(packed: string, step: Steps): Promise<Evidence> {
  const text = await evidenceText(packed, step);
  const [head = "", ...lines] = text.split("\n");
  // Reports of former versions have one line.
  if (lines.length === 0) return step(() => JSON.parse(text) as Evidence);
  const rest = JSON.parse(`${head}]}`) as Evidence;
  const exchanges: Exchange[] = [];
  for (const line of lines.slice(0, -1)) {
    const written = line.endsWith(",") ? line.slice(0, -1) : line;
    if (written !== "") exchanges.push(await step(() => JSON.parse(written) as Exchange));
  }
  return { ...rest, exchanges };
}
