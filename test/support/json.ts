import type { AccountView } from "../../src/accounts/account-view.ts";
import type { EmailVerification } from "../../src/verification/email/email-verification.ts";

/** Reads a reply's body as what the test takes it for. */
export async function jsonOf<Body>(reply: Response): Promise<Body> {
  const body: unknown = await reply.json();
  return body as Body;
}

export type EmailBatchBody = {
  readonly count: number;
  readonly summary: { readonly [word: string]: number };
  readonly results: readonly EmailVerification[];
};

export type RefusalBody = { readonly error: { readonly code: string; readonly message: string } };

export const emailOf = (reply: Response) => jsonOf<EmailVerification>(reply);
export const emailBatchOf = (reply: Response) => jsonOf<EmailBatchBody>(reply);
export const accountOf = (reply: Response) => jsonOf<AccountView>(reply);
export const refusalBodyOf = (reply: Response) => jsonOf<RefusalBody>(reply);
export const keyOf = async (reply: Response) => (await jsonOf<{ readonly api_key: string }>(reply)).api_key;
