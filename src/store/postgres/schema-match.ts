import type * as sqlite from "../sqlite/schema.ts";
import type * as postgres from "./schema.ts";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type AllSame<Checks extends readonly true[]> = Checks;

type Rows<Schema, Name extends keyof Schema> = Schema[Name] extends { readonly $inferSelect: infer Row }
  ? Row
  : never;
/** `Leases` are the columns by which nodes hold rows. */
type SameRows<Name extends keyof typeof sqlite & keyof typeof postgres, Leases extends string = never> = Same<
  Rows<typeof sqlite, Name>,
  Omit<Rows<typeof postgres, Name>, Leases>
>;

/** Does not compile where a table of the two schemas has other columns or types. */
export type SchemasMatch = AllSame<
  [
    SameRows<"accounts">,
    SameRows<"apiKeys">,
    SameRows<"planPeriods">,
    SameRows<"usageEvents">,
    SameRows<"quotaMarks">,
    SameRows<"usageDays">,
    SameRows<"invoices">,
    SameRows<"idempotentReplies">,
    SameRows<"probes">,
    SameRows<"keptClock">,
    SameRows<"operatorCommands">,
    SameRows<"operatorActs">,
    SameRows<"jobs", "reader" | "readUntil">,
    SameRows<"jobChunks", "owner" | "leaseUntil">,
    SameRows<"jobInputs">,
    SameRows<"jobResults">,
    SameRows<"webhooks">,
    SameRows<"webhookDeliveries", "owner" | "leaseUntil">,
  ]
>;
