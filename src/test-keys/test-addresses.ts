import type { EmailSubStatus } from "../contract/words.ts";

/** An address that a test key gets one verdict for, always. */
export type TestAddress = { readonly address: string; readonly subStatus: EmailSubStatus };

/** Domains of which the made-up DNS cannot say what is to be shown. */
export const MADE_UP_DOMAINS = {
  timeout: "silent-servers.net",
  notChecked: "not-looked-up.net",
  sendsNoMail: "sends-no-mail.net",
  checkFailed: "check-breaks.net",
} as const;

/** One address for each sub_status. */
export const TEST_ADDRESSES: readonly TestAddress[] = [
  { subStatus: "accepts_mail", address: "ana.silva@northwind-paper.com" },
  { subStatus: "role_account", address: "info@northwind-paper.com" },
  { subStatus: "disposable", address: "ana.silva@mailinator.com" },
  { subStatus: "possible_typo", address: "ana.silva@gmial.com" },
  { subStatus: "implicit_mx", address: "ana.silva@website-only.net" },
  { subStatus: "mx_is_ip", address: "ana.silva@address-as-host.net" },
  { subStatus: "gibberish", address: "xkqzvwjbtrpnmhd0qzxv@gmail.com" },
  { subStatus: "invalid_syntax", address: "ana..silva@gmail.com" },
  { subStatus: "invalid_tld", address: "ana.silva@northwind-paper.invalidtld" },
  { subStatus: "reserved_domain", address: "ana.silva@localhost.test" },
  { subStatus: "domain_not_found", address: "ana.silva@never-registered.com" },
  { subStatus: "no_mail_server", address: "ana.silva@no-records.net" },
  { subStatus: "null_mx", address: "ana.silva@parked-names.net" },
  { subStatus: "mx_unroutable", address: "ana.silva@inside-only.net" },
  { subStatus: "mx_unresolvable", address: "ana.silva@left-behind.net" },
  { subStatus: "domain_sends_no_mail", address: `ana.silva@${MADE_UP_DOMAINS.sendsNoMail}` },
  { subStatus: "dns_timeout", address: `ana.silva@${MADE_UP_DOMAINS.timeout}` },
  { subStatus: "dns_error", address: "ana.silva@broken-servers.net" },
  { subStatus: "dns_not_checked", address: `ana.silva@${MADE_UP_DOMAINS.notChecked}` },
  { subStatus: "check_failed", address: `ana.silva@${MADE_UP_DOMAINS.checkFailed}` },
];
