import { createClient } from "../client/client.ts";
import { exampleUrl, runExample } from "./example-account.ts";

/** Opens an account, uses it, and reads what it will cost. */
export async function firstInvoice(baseUrl: string, email: string): Promise<string> {
  const { api_key: apiKey } = await createClient({ baseUrl }).signUp({ email, plan: "growth" });
  const assay = createClient({ baseUrl, apiKey });
  await assay.verifyEmails(["ann@example.com", "bob@example.com", "ann@example.com"]);
  // Units beyond the included ones are paid for only up to this sum a month.
  await assay.changePlan({ plan: "growth", spend_limit_usd: "200.00" });
  const { usage, projected_invoice: invoice } = await assay.account();
  return `units used: ${usage.units}; ${invoice.total_usd} USD so far`;
}

// bun src/examples/usage-and-invoice.ts ADDRESS
if (import.meta.main) {
  const [email = ""] = process.argv.slice(2);
  await runExample(async () => {
    if (email === "") throw new Error("Give an address of yours to open an account for.");
    return firstInvoice(exampleUrl(process.env), email);
  });
}
