import { addressCorpus } from "../input.ts";
import { type Aim, CORPUS } from "./jobs.ts";

const ADDRESSES = 5000;
const SINGLES = 50;

type Result = { readonly email: string; readonly status: string; readonly sub_status: string };

/** Throws unless a server gives the right answer to every kind of address, by batch and one at a time. */
export async function proveServerRight({ url, key }: Aim): Promise<void> {
  const { cases } = addressCorpus({ ...CORPUS, count: ADDRESSES });
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}` };
  const body = JSON.stringify({ emails: cases.map(({ text }) => text) });
  const reply = await fetch(`${url}/v1/email/batch`, { method: "POST", headers, body });
  const { results } = (await reply.json()) as { readonly results: readonly Result[] };
  for (const [at, { text, status, subStatus }] of cases.entries()) {
    const result = results[at];
    if (result?.email !== text || result.status !== status || result.sub_status !== subStatus) {
      throw new Error(`${text} should be ${status} ${subStatus}: ${JSON.stringify(result)}`);
    }
    if (at % (ADDRESSES / SINGLES) !== 0) continue;
    const query = `email=${encodeURIComponent(text)}`;
    const single: unknown = await (await fetch(`${url}/v1/email/verify?${query}`, { headers })).json();
    if (!Bun.deepEquals(single, result)) throw new Error(`Alone and in a batch ${text} is not the same`);
  }
}

/** The reply to a warm single check, whole: what a bare server has to write for comparison. */
export async function replyToCopy({ url, key }: Aim) {
  const query = `email=${encodeURIComponent("anna.smith1@gmail.com")}`;
  const reply = await fetch(`${url}/v1/email/verify?${query}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const headers = Object.fromEntries(reply.headers);
  // The server adds these to every reply by itself.
  delete headers.date;
  delete headers["content-length"];
  return { headers, body: await reply.text() };
}
