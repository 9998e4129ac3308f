import type { QueryAllowance } from "./query-allowance.ts";

/** One MX record: where mail goes, the lowest preference first. */
export type MailExchange = { readonly preference: number; readonly exchange: string };

/** The plain value of a record, by its type. */
export type RecordData = {
  /** A dotted quad. */
  readonly A: string;
  /** As `::1`. */
  readonly AAAA: string;
  /** The exchange is in lower case without the last dot; the root is `"."`. */
  readonly MX: MailExchange;
  /** The strings of one record, joined without a space; one character for each octet. */
  readonly TXT: string;
};

export type RecordType = keyof RecordData;

/**
 * The outcome of a look-up. Only `nxdomain` means that the name does not exist; `timeout` and `error` leave that
 * open.
 */
export type LookupOutcome = "answer" | "nodata" | "nxdomain" | "timeout" | "error";

/** The outcome of a look-up, failures included: a look-up never throws. */
export type Lookup<T extends RecordType> = {
  readonly outcome: LookupOutcome;
  /** Empty unless the outcome is `answer`. */
  readonly records: readonly RecordData[T][];
  /** The TTL of the answer; of a negative one the lesser of its SOA's TTL and MINIMUM. */
  readonly ttlSeconds: number;
  /** Whether the name is an alias: the records are those at the end of a CNAME chain. */
  readonly alias: boolean;
  /** Of an `error`: the response code in lower case (`servfail`, `refused`) or what else went wrong. */
  readonly detail: string | null;
};

/** Looks a name up: A-labels, in any case, with or without the last dot. Its queries are charged to the allowance. */
export type Resolver = {
  readonly lookUp: <T extends RecordType>(
    name: string,
    type: T,
    allowance?: QueryAllowance,
  ) => Promise<Lookup<T>>;
};

/** Returns an outcome without records. */
export function emptyLookup<T extends RecordType>(
  outcome: Exclude<LookupOutcome, "answer">,
  ttlSeconds = 0,
  detail: string | null = null,
): Lookup<T> {
  return { outcome, records: [], ttlSeconds, alias: false, detail };
}

/** Whether the DNS says that there are no such records, or no such name. */
export function isDenial({ outcome }: Lookup<RecordType>): boolean {
  return outcome === "nxdomain" || outcome === "nodata";
}
