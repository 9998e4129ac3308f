import { createClient } from "../client/client.ts";
import { IncompleteReplyError } from "../client/failure.ts";
import { exampleAccount, runExample } from "./example-account.ts";

/** Walks a long list as its results arrive and keeps the addresses worth writing to. */
export async function deliverableOf(
  emails: readonly string[],
  server: { baseUrl: string; apiKey: string },
  signal?: AbortSignal,
): Promise<{ readonly deliverable: readonly string[]; readonly unitsCharged: number }> {
  const assay = createClient(server);
  // Without an idempotency key the first results come before the last address is verified.
  const results = assay.streamEmails(emails, { idempotencyKey: null, signal });
  const deliverable: string[] = [];
  try {
    for await (const { email, status } of results) if (status === "deliverable") deliverable.push(email);
  } catch (error) {
    if (error instanceof IncompleteReplyError) console.error(`Results that came: ${error.received}.`);
    throw error;
  }
  return { deliverable, unitsCharged: results.end()?.summary.units_charged ?? 0 };
}

// bun src/examples/stream-list.ts [ADDRESS]...
if (import.meta.main) {
  const emails = process.argv.slice(2);
  await runExample(async () => {
    const list = emails.length > 0 ? emails : ["info@proton.me", "anna@gmial.com", "jane..doe@yahoo.com"];
    const { deliverable, unitsCharged } = await deliverableOf(list, exampleAccount(process.env));
    return `deliverable: ${deliverable.join(", ") || "none"}; units charged: ${unitsCharged}`;
  });
}
