import type { SyntaxFault } from "./words.ts";

/** Findings that are not faults of syntax. */
export type Finding =
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
  | "disposable"
  | "possible_typo"
  | "implicit_mx"
  | "mx_is_ip"
  | "role_account"
  | "gibberish"
  | "dns_not_checked"
  | "gibberish_suspected"
  | "privacy_relay"
  | "mailbox_not_probed"
  | "mx_partially_broken"
  | "spf_permerror"
  | "spf_pass_all"
  | "spf_missing"
  | "mx_is_cname"
  | "null_mx_mixed"
  | "dmarc_missing"
  | "free_provider"
  | "dmarc_none"
  | "dmarc_reject"
  | "check_failed";

export type Reason = SyntaxFault | Finding;

/** Every word that `reasons` may hold, with what it means: the source of the documentation. */
export const REASONS: Readonly<Record<Reason, string>> = {
  empty: "There is nothing but white space.",
  address_too_long: "The address is longer than 254 octets after conversion.",
  at_sign_missing: "There is no @.",
  at_sign_repeated: "There is more than one @.",
  display_name: "A name stands before the address, as in `Ann <ann@example.com>`.",
  comment: "There are parentheses; comments are not taken on the internet.",
  local_empty: "Nothing stands before the @.",
  local_too_long: "The part before the @ is longer than 64 octets.",
  local_dot_leading: "The part before the @ begins with a dot.",
  local_dot_trailing: "The part before the @ ends with a dot.",
  local_dot_dot: "The part before the @ has two dots in a row.",
  local_quoted: "The part before the @ is in quotes; hardly any provider has such mailboxes.",
  local_space: "The part before the @ has a space.",
  local_control_character: "The part before the @ has a control character.",
  local_format_character:
    "The part before the @ has a character that cannot be seen or turns the text around.",
  local_unassigned_character: "The part before the @ has a code point to which Unicode gives no character.",
  local_private_use_character: "The part before the @ has a private use code point.",
  local_lone_surrogate: "The part before the @ has half of a surrogate pair.",
  local_mark_leading: "The part before the @ begins with a mark that belongs on a letter.",
  local_forbidden_character: "The part before the @ has a character that may not stand there unquoted.",
  domain_empty: "Nothing stands behind the @.",
  domain_too_long: "The domain is longer than 253 octets after conversion.",
  domain_dotless: "The domain has no dot.",
  domain_dot_leading: "The domain begins with a dot.",
  domain_dot_trailing: "The domain ends with a dot.",
  domain_dot_dot: "The domain has two dots in a row.",
  domain_label_too_long: "A label of the domain is longer than 63 octets after conversion.",
  domain_hyphen_leading: "A label of the domain begins with a hyphen.",
  domain_hyphen_trailing: "A label of the domain ends with a hyphen.",
  domain_label_reserved: "A label of the domain has two hyphens third and fourth, and is not xn--.",
  domain_underscore: "The domain has an underscore.",
  domain_literal: "The domain is an address in square brackets.",
  domain_ip_address: "The domain is an IPv4 address.",
  domain_tld_numeric: "The top-level domain is a number.",
  domain_space: "The domain has a space.",
  domain_control_character: "The domain has a control character.",
  domain_format_character: "The domain has a character that cannot be seen or turns the text around.",
  domain_forbidden_character: "The domain has a character other than letters, digits and hyphens.",
  domain_idn_invalid: "The domain is not a valid internationalised name (UTS 46, RFC 5892).",
  invalid_tld: "The top-level domain does not exist.",
  reserved_domain: "The top-level domain is reserved and never has mail (RFC 6761, 6762, 7686).",
  domain_not_found: "The domain does not exist.",
  no_mail_server: "The domain exists and has neither MX nor a public address.",
  null_mx: "The domain says that it takes no mail (RFC 7505).",
  mx_unroutable: "Every mail host has only addresses that the internet does not route.",
  mx_unresolvable: "No mail host has an address.",
  domain_sends_no_mail: "Without MX, and the SPF record says that no mail comes from here (`v=spf1 -all`).",
  dns_timeout: "The DNS did not answer in time: nothing is known.",
  dns_error: "The DNS answered with a failure: nothing is known.",
  disposable: "The domain, or the host that takes its mail, serves throwaway addresses.",
  possible_typo: "The domain looks like a slip; `did_you_mean` has the address that was probably meant.",
  implicit_mx:
    "Without MX, mail would go to the domain's own address (RFC 5321, 5.1); real mail domains have MX.",
  mx_is_ip: "The mail hosts are IP addresses, which RFC 5321 forbids and many senders refuse.",
  role_account: "The mailbox stands for a function, not for a person.",
  gibberish: "The part before the @ is very probably random.",
  dns_not_checked: "The DNS was not asked (`dns=false`).",
  gibberish_suspected: "The part before the @ may be random.",
  privacy_relay: "The address forwards to a mailbox that it hides; mail arrives.",
  mailbox_not_probed: "Whether this very mailbox exists was not asked of the mail host.",
  mx_partially_broken: "Some of the mail hosts have no usable address.",
  spf_permerror: "The SPF record is broken.",
  spf_pass_all: "The SPF record lets everybody send (`+all`).",
  spf_missing: "There is no SPF record.",
  mx_is_cname: "A mail host is an alias, which RFC 2181 forbids.",
  null_mx_mixed: "A null MX stands beside real ones.",
  dmarc_missing: "There is no DMARC record.",
  free_provider: "Anybody may open a mailbox at this provider.",
  dmarc_none: "The DMARC policy asks for nothing to be done.",
  dmarc_reject: "The DMARC policy rejects forged mail: the domain is well kept. This one adds points.",
  check_failed: "The check itself broke; the address was not verified.",
};
