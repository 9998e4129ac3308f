/** One address, judged. Spelled as on the wire, because the worker threads write it out as text. */
export type EmailVerification = {
  readonly email: string;
  readonly status: EmailStatus;
  readonly sub_status: EmailSubStatus;
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

export type EmailStatus = "deliverable" | "risky" | "undeliverable" | "unknown";

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

export type EmailSubStatus = (typeof EMAIL_SUB_STATUSES)[number];
