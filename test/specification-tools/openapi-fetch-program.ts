import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

/** What a reader writes with openapi-typescript and openapi-fetch. Copied beside the generated types, and run there. */

const [baseUrl = "", key = ""] = process.argv.slice(2);
const assay = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

const batch = await assay.POST("/v1/email/batch", { body: { emails: ["ann@good.com", "bob@null.com"] } });
if (batch.data === undefined) throw new Error(batch.error.error.message);
const count: number = batch.data.count;
const charged: number = batch.data.summary.units_charged;
const statuses: readonly components["schemas"]["EmailResult"]["status"][] = batch.data.results.map(
  ({ status }) => status,
);
// @ts-expect-error: there is no such field
batch.data.cuont;

const lines = await assay.POST("/v1/email/batch", {
  body: { emails: ["ann@good.com", "bob@null.com", "ann@good.com"], deep: true, dns: null },
  headers: { Accept: "application/x-ndjson" },
  parseAs: "text",
});
if (lines.data === undefined) throw new Error(lines.error.error.message);
const text: string = lines.data;

const single = await assay.GET("/v1/email/verify", {
  params: { query: { email: "ann@good.com", deep: true } },
});
if (single.data === undefined) throw new Error(single.error.error.message);
const score: number = single.data.score;

const documents = await assay.POST("/v1/identity/batch", {
  body: { items: [{ type: "cpf", value: "529.982.247-25" }, { value: "978-3-16-148410-0" }] },
});
if (documents.data === undefined) throw new Error(documents.error.error.message);
const types: readonly (string | null)[] = documents.data.results.map(({ type }) => type);

const phones = await assay.POST("/v1/phone/batch", { body: { phones: ["11 98765-4321"], country: "BR" } });
if (phones.data === undefined) throw new Error(phones.error.error.message);
const e164: readonly (string | null)[] = phones.data.results.map((result) => result.e164);

const account = await assay.GET("/v1/account");
if (account.data === undefined) throw new Error(account.error.error.message);
const units: number = account.data.usage.units;

const refused = await assay.POST("/v1/account/plan", {
  body: { plan: "free", spend_limit_usd: "no amount" },
});
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
