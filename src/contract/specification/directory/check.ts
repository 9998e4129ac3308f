import { Type } from "@sinclair/typebox";
import { described, jsonReply, operation } from "../operation.ts";
import { count, moment, nullable, schemaOf, text, textOrNull, word } from "../reply-schema.ts";

const VERDICTS = ["allow", "review", "deny", "unrated"] as const;
const SEVERITIES = ["info", "warn", "block"] as const;

export type Reason = {
  readonly code: string;
  readonly severity: (typeof SEVERITIES)[number];
  readonly message: string;
  readonly evidence: string;
};

/** One way to pay, as the resource asked for it. */
export type Accepted = {
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly pay_to: string;
};

/** What the last probe of a resource saw. */
export type Observed = {
  readonly probed_at: string;
  readonly method: string;
  readonly status: "paid" | "down" | "blocked" | "payment_broken";
  readonly ms: number | null;
  readonly accepts: readonly Accepted[];
};

/** What is known of a resource. The verdict is made of these fields and of nothing else. */
export type CheckFacts = {
  readonly resource: string;
  readonly host: string;
  readonly pay_to: {
    /** Null where the directory does not list the resource. */
    readonly address: string | null;
    readonly first_seen: string | null;
    readonly changed_at: string | null;
    readonly shared_hosts: number;
  };
  readonly price: {
    readonly listed_usd: string | null;
    readonly observed_usd: string | null;
    /** The share by which the observed price is off the listed one. */
    readonly drift: number | null;
  };
  readonly uptime_30d: number | null;
  readonly probes_30d: number;
  readonly median_latency_ms: number | null;
  readonly observed: Observed | null;
  readonly as_of: string;
  readonly stale: boolean;
};

export type CheckView = CheckFacts & {
  readonly verdict: (typeof VERDICTS)[number];
  readonly score: number | null;
  readonly reasons: readonly Reason[];
  readonly rules_version: string;
  readonly signature: string;
};

const Usd = Type.Union([Type.String({ pattern: "^\\d+\\.\\d{6}$" }), Type.Null()]);

export const Check = schemaOf<CheckView>()(
  Type.Object(
    {
      resource: text("What was asked about."),
      host: text("Its host."),
      verdict: word(VERDICTS, "`unrated` with fewer than 20 probes, and where it is not listed."),
      score: nullable(Type.Integer({ minimum: 0, maximum: 100 }), "Null where the verdict is `unrated`."),
      reasons: Type.Array(
        Type.Object({
          code: text("Names the rule."),
          severity: word(SEVERITIES, "`block` denies, `warn` asks for a review."),
          message: text("What it means."),
          evidence: text("What was seen."),
        }),
      ),
      pay_to: Type.Object({
        address: textOrNull("The address that is paid; null where the directory does not list the resource."),
        first_seen: nullable(Type.String(), "When it was first seen here."),
        changed_at: nullable(Type.String(), "When it last changed."),
        shared_hosts: count("Other hosts that are paid at the same address."),
      }),
      price: Type.Object({
        listed_usd: Usd,
        observed_usd: Usd,
        drift: nullable(Type.Number(), "Observed less listed, as a share of listed."),
      }),
      uptime_30d: nullable(Type.Number({ minimum: 0, maximum: 1 })),
      probes_30d: count("Probes within 30 days."),
      median_latency_ms: nullable(Type.Number()),
      observed: nullable(
        Type.Object({
          probed_at: moment("When it was asked."),
          method: text("How."),
          status: word(
            ["paid", "down", "blocked", "payment_broken"],
            "`paid`: it asked to be paid as it should.",
          ),
          ms: nullable(Type.Number()),
          accepts: Type.Array(
            Type.Object({
              network: text("CAIP-2."),
              asset: text("The token."),
              amount: text("In atomic units."),
              pay_to: text("The address that is paid."),
            }),
          ),
        }),
        "The last probe of this server; null where it does not probe.",
      ),
      as_of: moment("When the directory was last known to be current."),
      stale: Type.Boolean({ description: "Whether three syncs in a row have failed." }),
      rules_version: text("Names the rules of the verdict."),
      signature: text("A JWS over the rest: see `/.well-known/jwks.json`."),
    },
    { $id: "Check" },
  ),
);

const CheckQuery = Type.Object({ resource: Type.String({ minLength: 1, maxLength: 2048 }) });

export const checkResource = operation({
  operationId: "checkResource",
  method: "GET",
  path: "/v1/check",
  tag: "Directory",
  summary: "Whether a paid resource can be trusted",
  description:
    "Free. The verdict is a function of the other fields and of `rules_version`: anyone can make it again.",
  access: "public",
  query: described(CheckQuery, { resource: "The address of the resource, http or https." }),
  ifNoneMatch: true,
  replies: {
    200: jsonReply("The verdict.", Check, ["ETag", "Cache-Control"]),
    304: { description: "It is still the same.", headers: ["ETag", "Cache-Control"] },
  },
  refusals: ["invalid_request", "directory_unavailable"],
});

const Day = Type.Object({
  day: text("UTC."),
  probes: count("Probes that say something of the service."),
  paid: count("Of them, those that were asked to be paid as they should, or need no payment."),
  payment_broken: count("Those that were not asked to be paid in a way that can be paid."),
  down: count("Those that got no answer, or one of 5xx."),
  blocked: count("Probes that were refused (403 or 429): they count neither way."),
  uptime: nullable(Type.Number({ minimum: 0, maximum: 1 })),
});

export const History = Type.Object(
  {
    host: text("The host of the listing."),
    probing: Type.Boolean({ description: "Whether this server probes: if not, the lists are empty." }),
    changes: Type.Array(
      Type.Object({
        at: moment("When it was seen first."),
        kind: word(["price", "payee"], "What has changed."),
        resource: text("Where."),
        before: text("A price is in USD."),
        after: text("A price is in USD."),
      }),
      { description: "The last 1,000 within 30 days, newest first." },
    ),
    days: Type.Array(Day, {
      description: "The last 30 days, oldest first; days without a probe are left out.",
    }),
  },
  { $id: "History" },
);

export const getHistory = operation({
  operationId: "getHistory",
  method: "GET",
  path: "/v1/directory/:host/history",
  tag: "Directory",
  summary: "What has changed at a service, and its uptime by day",
  access: "public",
  parameters: { host: "The host, in any case." },
  replies: {
    200: jsonReply("The history.", History, ["Cache-Control"]),
  },
  refusals: ["not_found", "directory_unavailable"],
});
