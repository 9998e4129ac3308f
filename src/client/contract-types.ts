import type { ClientTypes } from "../contract/client-schemas.ts";

/** The shapes of the contract. In the npm package this file is written out of the same schemas. */

export type Account = ClientTypes["Account"];
export type CreatedKey = ClientTypes["CreatedKey"];
export type CreatedWebhook = ClientTypes["CreatedWebhook"];
export type Delivery = ClientTypes["Delivery"];
export type DeliveryList = ClientTypes["DeliveryList"];
export type DetectedDocument = ClientTypes["DetectedDocument"];
export type DocumentBatch = ClientTypes["DocumentBatch"];
export type DocumentItem = ClientTypes["DocumentItem"];
export type DocumentResult = ClientTypes["DocumentResult"];
export type EmailBatch = ClientTypes["EmailBatch"];
export type EmailResult = ClientTypes["EmailResult"];
export type EmailSummary = ClientTypes["EmailSummary"];
export type Health = ClientTypes["Health"];
export type Invoice = ClientTypes["Invoice"];
export type InvoicePage = ClientTypes["InvoicePage"];
export type Job = ClientTypes["Job"];
export type JobFields = ClientTypes["JobFields"];
export type JobPage = ClientTypes["JobPage"];
export type JobResults = ClientTypes["JobResults"];
export type Key = ClientTypes["Key"];
export type KeyList = ClientTypes["KeyList"];
export type Listing = ClientTypes["Listing"];
export type ListingPage = ClientTypes["ListingPage"];
export type ListingQuery = ClientTypes["ListingQuery"];
export type PhoneBatch = ClientTypes["PhoneBatch"];
export type PhoneResult = ClientTypes["PhoneResult"];
export type Plan = ClientTypes["Plan"];
export type Plans = ClientTypes["Plans"];
export type RotatedKey = ClientTypes["RotatedKey"];
export type SignedUp = ClientTypes["SignedUp"];
export type Signup = ClientTypes["Signup"];
export type Usage = ClientTypes["Usage"];
export type ValidSummary = ClientTypes["ValidSummary"];
export type Webhook = ClientTypes["Webhook"];
export type WebhookList = ClientTypes["WebhookList"];
