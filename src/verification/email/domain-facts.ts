/** The known facts about a mail domain, as plain data: they cross threads as JSON. */
export type DomainFacts = {
  /** In A-labels and lower case, as it was looked up. */
  readonly domain: string;
  readonly mail: MailRouting;
  readonly lists: DomainLists;
  /** Present where SPF and DMARC were looked up (deep). */
  readonly policy?: MailPolicy;
};

/** Where the DNS sends mail for a domain. */
export type MailRouting =
  | { readonly state: "not_checked" }
  /** The look-up that decides timed out. */
  | { readonly state: "timeout" }
  | { readonly state: "error" }
  /** The name does not exist. */
  | { readonly state: "no_domain" }
  /** The name exists, with neither MX nor a public address record. */
  | { readonly state: "no_mail_server" }
  | { readonly state: "null_mx" }
  /** No MX, but a public A or AAAA record that mail falls back to (RFC 5321, 5.1). */
  | { readonly state: "implicit_mx" }
  | MailExchangers;

export type MailExchangers = {
  readonly state: "mx";
  /** By preference, lower case, no trailing dot, "." dropped. */
  readonly hosts: readonly string[];
  /**
   * What the hosts resolve to: `public` if any has a public address; else `unknown` if any look-up failed;
   * else `literal` if any is a public IP address written as a name; else `private` if any has only addresses
   * that are not routable, or is one, or is `localhost`; else `dead` (no address at all).
   */
  readonly targets: "public" | "unknown" | "literal" | "private" | "dead";
  /** At least one host is an alias (RFC 5321, 5.1 forbids it). */
  readonly cname: boolean;
  /** At least one host is public and at least one is dead, private or a literal. */
  readonly partlyDead: boolean;
  /** There is a null MX beside others, which RFC 7505, 3 forbids. */
  readonly nullMixed: boolean;
};

/** The lists that contain a domain. */
export type DomainLists = {
  /** `listed`: the domain or a parent up to the registrable domain; `mail_host`: its MX serves throwaways only. */
  readonly disposable: "listed" | "mail_host" | null;
  readonly freeProvider: boolean;
};

/** What a domain publishes about mail sent in its name. */
export type MailPolicy = {
  readonly spf: {
    readonly state: "none" | "found" | "permerror" | "temperror";
    /** The qualifier of `all` (redirects followed), or null without one. */
    readonly all: "+" | "-" | "~" | "?" | null;
    /** The record is `v=spf1 -all` and nothing else. */
    readonly sendsNoMail: boolean;
  };
  readonly dmarc: {
    readonly state: "none" | "found" | "temperror";
    /** The policy that applies to this domain, `sp` and `np` taken into account. */
    readonly policy: "none" | "quarantine" | "reject" | null;
  };
};

/** What the routing shows: the domain accepts mail, accepts none, or neither for certain. */
export type MailEvidence = "works" | "none" | "unknown";
