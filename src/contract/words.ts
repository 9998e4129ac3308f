/** The words and numbers that the wire knows, as plain data: threads read them without the library of schemas. */

export const EMAIL_STATUSES = ["deliverable", "risky", "undeliverable", "unknown"] as const;

/** The verdicts on a document or a phone number. */
const VALIDITIES = ["valid", "invalid"] as const;

/** The words by which results of each kind are counted and chosen. */
export const SUMMARY_WORDS = { email: EMAIL_STATUSES, identity: VALIDITIES, phone: VALIDITIES } as const;

/** Of an address: its look-up failed, and another one may succeed. */
export const LOOKUP_FAILURES = ["dns_timeout", "dns_error"] as const;

/** Checks that found nothing by no fault of the item: they cost nothing. */
export const UNCHECKED_WORDS: readonly string[] = [...LOOKUP_FAILURES, "check_failed"];

/** The types of documents, as callers name them. */
export const DOCUMENT_TYPES = ["cpf", "cnpj", "iban", "vat", "card", "isbn", "ean13", "ein"] as const;

export const EMAIL_SUB_STATUSES = [
  "accepts_mail",
  "role_account",
  "disposable",
  "possible_typo",
  "implicit_mx",
  "mx_is_ip",
  "gibberish",
  "invalid_syntax",
  "invalid_tld",
  "reserved_domain",
  "domain_not_found",
  "no_mail_server",
  "null_mx",
  "mx_unroutable",
  "mx_unresolvable",
  "domain_sends_no_mail",
  "dns_timeout",
  "dns_error",
  "dns_not_checked",
  "check_failed",
] as const;

/** What can be wrong with an address, each fault with its own word. All of them mean `invalid_syntax`. */
export const SYNTAX_FAULTS = [
  "empty",
  "address_too_long",
  "at_sign_missing",
  "at_sign_repeated",
  "display_name",
  "comment",
  "local_empty",
  "local_too_long",
  "local_dot_leading",
  "local_dot_trailing",
  "local_dot_dot",
  "local_quoted",
  "local_space",
  "local_control_character",
  "local_format_character",
  "local_unassigned_character",
  "local_private_use_character",
  "local_lone_surrogate",
  "local_mark_leading",
  "local_forbidden_character",
  "domain_empty",
  "domain_too_long",
  "domain_dotless",
  "domain_dot_leading",
  "domain_dot_trailing",
  "domain_dot_dot",
  "domain_label_too_long",
  "domain_hyphen_leading",
  "domain_hyphen_trailing",
  "domain_label_reserved",
  "domain_underscore",
  "domain_literal",
  "domain_ip_address",
  "domain_tld_numeric",
  "domain_space",
  "domain_control_character",
  "domain_format_character",
  "domain_forbidden_character",
  "domain_idn_invalid",
] as const;

export const IDENTITY_REASONS = ["format", "length", "checksum", "component", "check_failed"] as const;

export const IDENTITY_STRENGTHS = ["format", "check_digit", "two_check_digits", "mod97"] as const;

export const IDENTITY_WARNINGS = [
  "test_number",
  "unknown_issuer",
  "restricted_prefix",
  "legacy_length",
  "unassigned_range",
  "check_digit_mismatch",
  "qr_iban",
] as const;

export const PHONE_REASONS = [
  "not_a_number",
  "too_short",
  "too_long",
  "invalid_length",
  "invalid_country",
  "invalid_number",
  "check_failed",
] as const;

export const PHONE_TYPES = [
  "mobile",
  "fixed_line",
  "fixed_line_or_mobile",
  "toll_free",
  "premium_rate",
  "shared_cost",
  "voip",
  "personal_number",
  "pager",
  "uan",
  "voicemail",
] as const;

/** The message for a country of a phone number that does not exist. */
export const PHONE_COUNTRY_DEMAND = "must be an ISO 3166 alpha-2 code or a calling code";

export const PLAN_NAMES = ["free", "starter", "growth", "scale"] as const;

export const SORT_FIELDS = ["score", "price", "uptime", "latency", "payers", "last_paid"] as const;

/** Words of a search that count; those behind them are passed over. */
export const QUERY_WORDS_MAX = 8;

/** Of a part of a job's input, before it is compressed. */
export const PART_BYTES_MAX = 67_108_864;

export type EmailStatus = (typeof EMAIL_STATUSES)[number];
export type EmailSubStatus = (typeof EMAIL_SUB_STATUSES)[number];
export type SyntaxFault = (typeof SYNTAX_FAULTS)[number];
export type DocumentType = (typeof DOCUMENT_TYPES)[number];
export type IdentityReason = (typeof IDENTITY_REASONS)[number];
export type IdentityStrength = (typeof IDENTITY_STRENGTHS)[number];
export type IdentityWarning = (typeof IDENTITY_WARNINGS)[number];
export type PhoneReason = (typeof PHONE_REASONS)[number];
export type PhoneType = (typeof PHONE_TYPES)[number];
export type PlanName = (typeof PLAN_NAMES)[number];
export type SortField = (typeof SORT_FIELDS)[number];

/** What a key may do: checks; reading of the account; all of it. */
export const KEY_SCOPES = ["verify", "read", "account"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];

/** The events that webhooks can listen to. */
export const WEBHOOK_EVENTS = [
  "job.completed",
  "job.failed",
  "job.paused",
  "job.cancelled",
  "quota.80",
  "quota.100",
  "invoice.issued",
  "key.expiring",
  "webhook.test",
] as const;

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Returns true for exactly the names of `DOCUMENT_TYPES`. */
export function isDocumentType(text: string): text is DocumentType {
  return DOCUMENT_TYPES.some((type) => type === text);
}
