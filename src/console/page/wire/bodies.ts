import type { ChangesView, DirectoryView } from "../../../contract/directory-schemas.ts";
import type {
  AccountBody,
  CreatedKeyBody,
  InvoiceBody,
  InvoicePageBody,
  KeyEntryBody,
  PlansBody,
  RotatedKeyBody,
} from "../../../contract/specification/accounts/account-replies.ts";
import type { Job as JobSchema } from "../../../contract/specification/jobs/job-replies.ts";
import type { Body } from "../../../contract/specification/reply-schema.ts";
import type { HealthBody } from "../../../contract/specification/service/service-replies.ts";
import type {
  CreatedWebhookBody,
  DeliveryBody,
  DeliveryListBody,
  RotatedSecretBody,
  WebhookBody,
} from "../../../contract/specification/webhooks/webhook-replies.ts";

/** The bodies of replies: types of the contract's schemas, under the names that the page uses. */

export type Account = AccountBody;
export type Invoice = InvoiceBody;
export type InvoicePage = InvoicePageBody;
export type Plans = PlansBody;
export type Plan = PlansBody["plans"][number];
export type SignedUp = { readonly account_id: string; readonly api_key: string };
export type Key = KeyEntryBody;
export type CreatedKey = CreatedKeyBody;
export type RotatedKey = RotatedKeyBody;
export type DayUsage = {
  readonly rows: readonly { readonly day: string; readonly calls: number; readonly units: number }[];
};
export type EndpointUsage = {
  readonly rows: readonly { readonly endpoint: string; readonly calls: number; readonly units: number }[];
};
export type Job = Body<typeof JobSchema>;
export type JobPage = Page<Job>;
export type Webhook = WebhookBody;
export type CreatedWebhook = CreatedWebhookBody;
export type RotatedSecret = RotatedSecretBody;
export type Delivery = DeliveryBody;
export type DeliveryPage = DeliveryListBody;
export type Health = HealthBody;
export type ListingPage = Body<typeof DirectoryView>;
export type Listing = ListingPage["listings"][number];
export type ChangePage = Body<typeof ChangesView>;

type Page<Item> = {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
};

export type EmailResult = {
  readonly email: string;
  readonly status: string;
  readonly sub_status: string;
  readonly score: number;
  readonly normalized: string;
  readonly has_mx: boolean;
  readonly mx_hosts: readonly string[];
  readonly is_disposable: boolean;
  readonly is_role: boolean;
  readonly is_free_provider: boolean;
  readonly gibberish_score: number;
  readonly did_you_mean: string | null;
  readonly reasons: readonly string[];
};

export type DocumentResult = {
  readonly type: string | null;
  readonly value: string;
  readonly valid: boolean;
  readonly reason: string | null;
  readonly message: string | null;
  readonly normalized: string | null;
  readonly formatted: string | null;
  readonly country: string | null;
  readonly strength: string | null;
  readonly warnings: readonly string[];
  readonly details: { readonly [name: string]: unknown } | null;
  readonly candidates?: readonly { readonly type: string; readonly confidence: number }[];
};

export type PhoneResult = {
  readonly phone: string;
  readonly valid: boolean;
  readonly possible: boolean;
  readonly reason: string | null;
  readonly e164: string | null;
  readonly international: string | null;
  readonly national: string | null;
  readonly country: string | null;
  readonly type: string | null;
  readonly timezones: readonly string[];
  readonly original_carrier: string | null;
};

/** One result of any kind, with its row in a job. */
export type ResultRow = { readonly row?: number; readonly [field: string]: unknown };

export type Batch = {
  readonly count: number;
  readonly summary: { readonly [word: string]: number };
  readonly results: readonly ResultRow[];
};
