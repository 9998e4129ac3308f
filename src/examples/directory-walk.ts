import { createClient } from "../client/client.ts";

/** The hosts of all services of some score, page by page; the pages are of one snapshot. */
export async function hostsWithScore(minScore: number, baseUrl: string): Promise<readonly string[]> {
  const assay = createClient({ baseUrl });
  const hosts: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await assay.listings({
      min_score: minScore,
      limit: 100,
      ...(cursor === "" ? {} : { cursor }),
    });
    hosts.push(...page.listings.map(({ host }) => host));
    cursor = page.next_cursor;
  }
  return hosts;
}
