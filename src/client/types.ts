import type {
  DetectedDocument,
  DocumentResult,
  EmailResult,
  EmailSummary,
  Invoice,
  Job,
  PhoneResult,
  Plan,
  ValidSummary,
} from "./contract-types.ts";

/** Names for words and forms within the shapes of the contract. */

export type EmailStatus = EmailResult["status"];
export type EmailSubStatus = EmailResult["sub_status"];
export type DocumentType = DocumentResult["type"];
export type DocumentReason = NonNullable<DocumentResult["reason"]>;
export type PhoneReason = NonNullable<PhoneResult["reason"]>;
export type PhoneType = NonNullable<PhoneResult["type"]>;
export type PlanName = Plan["plan"];

/** A result of a batch of documents: detected where the item named no type. */
export type DocumentOutcome = DocumentResult | DetectedDocument;
/** The cost of a batch. */
export type BatchCost = Pick<EmailSummary & ValidSummary, "duplicates" | "units_charged">;
export type JobKind = Job["kind"];
export type JobStatus = Job["status"];

/** A result with the place of its row in the input, from 1. */
export type JobResult<Result = EmailResult> = Result & { readonly row: number };

export type JobEventType = "job.completed" | "job.failed" | "job.paused" | "job.cancelled";

/** The payload of a webhook. */
export type WebhookEvent =
  | {
      readonly type: JobEventType;
      readonly timestamp: string;
      readonly data: Pick<Job, "job_id" | "kind" | "name" | "status" | "status_reason" | "units_charged"> & {
        readonly counts: { readonly rows: number; readonly distinct: number; readonly processed: number };
      };
    }
  | {
      readonly type: "quota.80" | "quota.100";
      readonly timestamp: string;
      readonly data: {
        readonly plan: PlanName;
        readonly period: { readonly start: string; readonly end: string };
        readonly units: number;
        readonly included_units: number;
        readonly remaining_units: number;
      };
    }
  | {
      readonly type: "invoice.issued";
      readonly timestamp: string;
      readonly data: Pick<Invoice, "invoice_id" | "plan" | "period_start" | "period_end" | "total_usd">;
    }
  | {
      readonly type: "key.expiring";
      readonly timestamp: string;
      readonly data: {
        readonly key_id: string;
        readonly name: string | null;
        readonly hint: string;
        readonly expires_at: string;
      };
    }
  | {
      readonly type: "webhook.test";
      readonly timestamp: string;
      readonly data: { readonly webhook_id: string };
    };
