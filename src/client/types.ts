/** What the API answers, as the contract spells it. */

export type EmailStatus = "deliverable" | "risky" | "undeliverable" | "unknown";

export type EmailSubStatus =
  | "accepts_mail"
  | "role_account"
  | "disposable"
  | "possible_typo"
  | "implicit_mx"
  | "mx_is_ip"
  | "gibberish"
  | "invalid_syntax"
  | "invalid_tld"
  | "reserved_domain"
  | "domain_not_found"
  | "no_mail_server"
  | "null_mx"
  | "mx_unroutable"
  | "mx_unresolvable"
  | "domain_sends_no_mail"
  | "dns_timeout"
  | "dns_error"
  | "dns_not_checked"
  | "check_failed";

export type EmailResult = {
  readonly email: string;
  readonly status: EmailStatus;
  readonly sub_status: EmailSubStatus;
  /** 0 to 100. */
  readonly score: number;
  /** A key for finding duplicates; empty where the address cannot be parsed. */
  readonly normalized: string;
  readonly has_mx: boolean;
  readonly mx_hosts: readonly string[];
  readonly is_disposable: boolean;
  readonly is_role: boolean;
  readonly is_free_provider: boolean;
  /** 0 to 1. */
  readonly gibberish_score: number;
  readonly did_you_mean: string | null;
  readonly reasons: readonly string[];
};

export type EmailSummary = { readonly [status in EmailStatus]: number } & BatchCost;

export type DocumentType = "cpf" | "cnpj" | "iban" | "vat" | "card" | "isbn" | "ean13" | "ein";

export type DocumentReason = "format" | "length" | "checksum" | "component" | "check_failed";

/** `type` and `details` are null where a value has the shape of no document. */
export type DocumentResult = {
  readonly type: DocumentType | null;
  /** As given; a card number is masked. */
  readonly value: string;
  readonly valid: boolean;
  readonly reason: DocumentReason | null;
  readonly message: string | null;
  readonly normalized: string | null;
  readonly formatted: string | null;
  readonly country: string | null;
  readonly strength: "format" | "check_digit" | "two_check_digits" | "mod97" | null;
  readonly warnings: readonly string[];
  readonly data_version: string | null;
  /** By type; see the table of documents. */
  readonly details: { readonly [name: string]: unknown } | null;
};

export type DetectedDocument = DocumentResult & {
  readonly detected: DocumentType | null;
  readonly confidence: number;
  readonly candidates: readonly { readonly type: DocumentType; readonly confidence: number }[];
};

export type DocumentItem = { readonly type?: DocumentType; readonly value: string };

export type ValidSummary = { readonly valid: number; readonly invalid: number } & BatchCost;

export type PhoneReason =
  | "not_a_number"
  | "too_short"
  | "too_long"
  | "invalid_length"
  | "invalid_country"
  | "invalid_number"
  | "check_failed";

export type PhoneType =
  | "mobile"
  | "fixed_line"
  | "fixed_line_or_mobile"
  | "toll_free"
  | "premium_rate"
  | "shared_cost"
  | "voip"
  | "personal_number"
  | "pager"
  | "uan"
  | "voicemail";

export type PhoneResult = {
  readonly phone: string;
  readonly valid: boolean;
  readonly possible: boolean;
  readonly reason: PhoneReason | null;
  readonly e164: string | null;
  readonly international: string | null;
  readonly national: string | null;
  readonly rfc3966: string | null;
  readonly country: string | null;
  readonly calling_code: string | null;
  readonly national_number: string | null;
  readonly extension: string | null;
  readonly is_non_geographic: boolean;
  readonly vanity: boolean;
  readonly type: PhoneType | null;
  readonly timezones: readonly string[];
  readonly original_carrier: string | null;
};

export type BatchCost = {
  /** Items that repeat an earlier one of the batch. */
  readonly duplicates: number;
  readonly units_charged: number;
};

export type Batch<Result, Summary> = {
  readonly count: number;
  readonly summary: Summary;
  readonly results: readonly Result[];
};

export type PlanName = "free" | "starter" | "growth" | "scale";

export type Plan = {
  readonly plan: PlanName;
  readonly monthly_price_usd: string;
  readonly included_units: number;
  /** Null: the included units are a hard stop. */
  readonly overage_unit_price_usd: string | null;
  readonly requests_per_second: number;
  readonly burst: number;
  readonly max_batch_size: number;
  readonly max_job_size: number;
  readonly max_jobs: number;
};

export type Signup = {
  readonly email: string;
  readonly name?: string;
  readonly company?: string;
  readonly country?: string;
  readonly plan?: PlanName;
  readonly referral_code?: string;
};

export type Invoice = {
  readonly invoice_id: string;
  readonly status: "projected" | "issued";
  readonly plan: PlanName;
  readonly period_start: string;
  readonly period_end: string;
  readonly lines: readonly {
    readonly description: string;
    readonly quantity: number;
    readonly unit_price_usd: string;
    readonly amount_usd: string;
  }[];
  readonly total_usd: string;
  readonly projected_total_usd?: string;
};

export type Account = {
  readonly account_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly company: string | null;
  readonly country: string | null;
  readonly plan: PlanName;
  readonly pending_plan: PlanName | null;
  readonly created_at: string;
  readonly period: { readonly start: string; readonly end: string };
  readonly usage: {
    readonly units: number;
    readonly included_units: number;
    readonly remaining_units: number | null;
    readonly calls: number;
    readonly by_endpoint: readonly {
      readonly endpoint: string;
      readonly calls: number;
      readonly units: number;
    }[];
  };
  readonly limits: {
    readonly requests_per_second: number;
    readonly burst: number;
    readonly max_batch_size: number;
  };
  readonly spend_limit_usd: string | null;
  readonly projected_invoice: Invoice;
};

export type Usage = {
  readonly from: string;
  readonly to: string;
  readonly group_by: "day" | "endpoint";
  readonly rows: readonly {
    readonly day?: string;
    readonly endpoint?: string;
    readonly calls: number;
    readonly units: number;
  }[];
};

export type Listing = {
  readonly host: string;
  readonly service_name: string | null;
  readonly description: string;
  readonly endpoints: number;
  readonly score: number;
  readonly evidence: {
    readonly pay_to: string;
    readonly uptime_30d: number | null;
    readonly probes_30d: number;
    readonly median_latency_ms: number | null;
    readonly payers_30d: number;
    readonly settlements_30d: number;
    readonly last_paid: string | null;
    readonly pay_to_changed_at: string | null;
    readonly price_usd: string | null;
  };
  readonly resources: readonly {
    readonly url: string;
    readonly score: number;
    readonly price_usd: string | null;
  }[];
  readonly judged_by: string;
};

export type ListingQuery = {
  readonly q?: string;
  readonly min_score?: number;
  readonly max_price_usd?: string;
  readonly min_uptime?: number;
  readonly payee?: string;
  readonly sort?: "score" | "price" | "uptime" | "latency" | "payers" | "last_paid";
  readonly order?: "asc" | "desc";
  readonly limit?: number;
  readonly cursor?: string;
};

export type ListingPage = {
  readonly listings: readonly Listing[];
  readonly total: number;
  readonly next_cursor: string | null;
  readonly snapshot: {
    readonly version: number;
    readonly synced_at: string;
    readonly stale: boolean;
    readonly count: number;
    readonly quarantined: number;
  };
};

export type Health = {
  readonly status: "healthy" | "degraded" | "failing";
  readonly version: string;
  readonly uptime_s: number;
  readonly checks: {
    readonly [part: string]: {
      readonly status: "pass" | "warn" | "fail";
      readonly observed: number | null;
      readonly unit: string | null;
      readonly output?: string;
      readonly time: string;
    };
  };
};
