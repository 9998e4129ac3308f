import { createClient } from "../client/client.ts";
import { RefusedError } from "../client/failure.ts";
import { exampleAccount, runExample } from "./example-account.ts";

/** Checks one address and says what to show the person who typed it. */
export async function adviceOn(email: string, server: { baseUrl: string; apiKey: string }): Promise<string> {
  const assay = createClient(server);
  try {
    const { status, did_you_mean, reasons } = await assay.verifyEmail(email);
    if (did_you_mean !== null) return `Did you mean ${did_you_mean}?`;
    // Unknown is no fault of the address: let it through and check it again later.
    if (status === "deliverable" || status === "unknown") return "Thank you.";
    return `We cannot reach you at ${email} (${reasons[0]}).`;
  } catch (error) {
    if (error instanceof RefusedError && error.code === "quota_exceeded") return "Thank you.";
    throw error;
  }
}

// bun src/examples/verify-one.ts [ADDRESS]
if (import.meta.main) {
  const [email = "anna@gmial.com"] = process.argv.slice(2);
  await runExample(async () => adviceOn(email, exampleAccount(process.env)));
}
