import { DirectoryQuery, DirectoryView, ListingView } from "./directory-schemas.ts";
import { IdentityItem, SignupBody } from "./result-schemas.ts";
import {
  Account,
  CreatedKey,
  Invoice,
  InvoicePage,
  Key,
  KeyList,
  Plan,
  Plans,
  RotatedKey,
  SignedUp,
  Usage,
} from "./specification/accounts/account-replies.ts";
import { UploadFields } from "./specification/jobs/job-fields.ts";
import { Job, JobPage, JobResults } from "./specification/jobs/job-replies.ts";
import type { Body } from "./specification/reply-schema.ts";
import { Health } from "./specification/service/service-replies.ts";
import { ValidSummary } from "./specification/verification/batch-replies.ts";
import { EmailBatch, EmailResult, EmailSummary } from "./specification/verification/email-replies.ts";
import {
  DetectedResult,
  IdentityBatch,
  IdentityResult,
} from "./specification/verification/identity-replies.ts";
import { PhoneBatch, PhoneResult } from "./specification/verification/phone-replies.ts";
import {
  CreatedWebhook,
  Delivery,
  DeliveryList,
  Webhook,
  WebhookList,
} from "./specification/webhooks/webhook-replies.ts";

/** The shapes that the client's types are made of, by the client's names for them. */
export const CLIENT_SCHEMAS = {
  Account,
  CreatedKey,
  CreatedWebhook,
  Delivery,
  DeliveryList,
  DetectedDocument: DetectedResult,
  DocumentBatch: IdentityBatch,
  DocumentItem: IdentityItem,
  DocumentResult: IdentityResult,
  EmailBatch,
  EmailResult,
  EmailSummary,
  Health,
  Invoice,
  InvoicePage,
  Job,
  JobFields: UploadFields,
  JobPage,
  JobResults,
  Key,
  KeyList,
  Listing: ListingView,
  ListingPage: DirectoryView,
  ListingQuery: DirectoryQuery,
  PhoneBatch,
  PhoneResult,
  Plan,
  Plans,
  RotatedKey,
  SignedUp,
  Signup: SignupBody,
  Usage,
  ValidSummary,
  Webhook,
  WebhookList,
} as const;

export type ClientTypes = {
  readonly [Name in keyof typeof CLIENT_SCHEMAS]: Body<(typeof CLIENT_SCHEMAS)[Name]>;
};
