import { client } from "./hey-api/client.gen.ts";
import {
  changePlan,
  getAccount,
  validateDocuments,
  validatePhones,
  verifyEmail,
  verifyEmails,
} from "./hey-api/sdk.gen.ts";
import type { EmailResult } from "./hey-api/types.gen.ts";

/** What a reader writes with hey-api. Copied beside the generated client, and run there. */

const [baseUrl = "", auth = ""] = process.argv.slice(2);
client.setConfig({ baseUrl, auth });

const batch = await verifyEmails({
  body: { emails: ["ann@good.com", "bob@null.com"] },
  throwOnError: true,
});
const count: number = batch.data.count;
const charged: number = batch.data.summary.units_charged;
const statuses: readonly EmailResult["status"][] = batch.data.results.map(({ status }) => status);
// @ts-expect-error: there is no such field
batch.data.cuont;

const lines = await verifyEmails({
  body: { emails: ["ann@good.com", "bob@null.com", "ann@good.com"], deep: true, dns: null },
  headers: { Accept: "application/x-ndjson" } as { "Idempotency-Key"?: string },
  parseAs: "text",
  throwOnError: true,
});
const text = `${lines.data}`;

const single = await verifyEmail({ query: { email: "ann@good.com", deep: true }, throwOnError: true });
const score: number = single.data.score;

const documents = await validateDocuments({
  body: { items: [{ type: "cpf", value: "529.982.247-25" }, { value: "978-3-16-148410-0" }] },
  throwOnError: true,
});
const types: readonly (string | null)[] = documents.data.results.map(({ type }) => type);

const phones = await validatePhones({
  body: { phones: ["11 98765-4321"], country: "BR" },
  throwOnError: true,
});
const e164: readonly (string | null)[] = phones.data.results.map((result) => result.e164);

const account = await getAccount({ throwOnError: true });
const units: number = account.data.usage.units;

const refused = await changePlan({ body: { plan: "free", spend_limit_usd: "no amount" } });
const code: string | undefined = refused.error?.error.code;

console.log(
  JSON.stringify({
    count,
    charged,
    statuses,
    lines: text.trim().split("\n").length,
    score,
    types,
    e164,
    units,
    code,
  }),
);
