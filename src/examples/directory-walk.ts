import { createClient } from "../client/client.ts";
import { exampleUrl, runExample } from "./example-account.ts";

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

// bun src/examples/directory-walk.ts [LEAST SCORE]
if (import.meta.main) {
  const [minScore = "0"] = process.argv.slice(2);
  await runExample(async () => {
    const hosts = await hostsWithScore(Number(minScore), exampleUrl(process.env));
    return hosts.join("\n");
  });
}
