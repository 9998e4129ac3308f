import type * as sqlite from "../sqlite/schema.ts";
import type * as postgres from "./schema.ts";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type AllSame<Checks extends readonly true[]> = Checks;

type Rows<Schema, Name extends keyof Schema> = Schema[Name] extends { readonly $inferSelect: infer Row }
  ? Row
  : never;
type SameRows<Name extends keyof typeof sqlite & keyof typeof postgres> = Same<
  Rows<typeof sqlite, Name>,
  Rows<typeof postgres, Name>
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
  ]
>;
