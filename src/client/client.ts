import type {
  Account,
  DetectedDocument,
  DocumentBatch,
  DocumentItem,
  DocumentResult,
  EmailBatch,
  EmailResult,
  EmailSummary,
  Health,
  InvoicePage,
  Listing,
  ListingPage,
  ListingQuery,
  PhoneBatch,
  PhoneResult,
  Plans,
  RotatedKey,
  SignedUp,
  Signup,
  Usage,
  ValidSummary,
} from "./contract-types.ts";
import { createJobCalls } from "./jobs.ts";
import { pause } from "./pause.ts";
import { type ResultStream, streamResults } from "./result-stream.ts";
import type { CallOptions, ClientSettings } from "./transport.ts";
import { createTransport } from "./transport.ts";
import type { DocumentOutcome, DocumentType, PlanName } from "./types.ts";

export type EmailOptions = CallOptions & { readonly deep?: boolean; readonly dns?: boolean };
export type PhoneOptions = CallOptions & { readonly country?: string };
type ReadOptions = Pick<CallOptions, "signal">;

/** A client of the API. */
export type Client = ReturnType<typeof createClient>;

/**
 * Creates a client. Every POST with a key carries an Idempotency-Key, so a call that is sent again after a broken
 * connection is charged once. Calls that wait (429, 503) wait as long as the server asks. All throw RefusedError
 * with the API's error code, UnreachableError, or the reason of an aborted signal.
 *
 * A batch under an Idempotency-Key is answered when all of it is verified; give `idempotencyKey: null` to a stream
 * whose first results shall come at once.
 *
 * @example
 * const assay = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey });
 * const { status, reasons } = await assay.verifyEmail("ann@example.com");
 * for await (const result of assay.streamEmails(addresses)) console.log(result.email, result.status);
 */
export function createClient(settings: ClientSettings) {
  const send = createTransport(settings);

  function get<Body>(path: string, query: Query = {}, { signal }: ReadOptions = {}): Promise<Body> {
    return send("GET", path + queryText(query), { signal }, json<Body>);
  }

  function post<Body>(path: string, options: CallOptions, body: unknown): Promise<Body> {
    const { signal, idempotencyKey } = options;
    return send("POST", path, { signal, idempotencyKey, body }, json<Body>);
  }

  function stream<Result, Summary>(path: string, options: CallOptions, body: unknown) {
    const { signal, idempotencyKey } = options;
    const call = { signal, idempotencyKey, body, accept: "application/x-ndjson" };
    const open = () => send("POST", path, call, async (reply, key) => ({ reply, idempotencyKey: key }));
    return streamResults<Result, Summary>(open, signal);
  }

  return {
    plans: (options?: ReadOptions) => get<Plans>("/v1/plans", {}, options),
    /** The key is shown here and never again. */
    signUp: (signup: Signup, { signal }: ReadOptions = {}) =>
      post<SignedUp>("/v1/signup", { signal, idempotencyKey: null }, signup),
    account: (options?: ReadOptions) => get<Account>("/v1/account", {}, options),
    changePlan: (change: { plan: PlanName; spend_limit_usd?: string | null }, options: CallOptions = {}) =>
      post<Account>("/v1/account/plan", options, change),
    usage: (
      query: { from?: string; to?: string; group_by?: "day" | "endpoint" } = {},
      options?: ReadOptions,
    ) => get<Usage>("/v1/account/usage", query, options),
    invoices: (query: { limit?: number; starting_after?: string } = {}, options?: ReadOptions) =>
      get<InvoicePage>("/v1/account/invoices", query, options),
    rotateKey: (overlapSeconds = 0, options: CallOptions = {}) =>
      post<RotatedKey>("/v1/account/keys/rotate", options, {
        overlap_seconds: overlapSeconds,
      }),

    verifyEmail: (email: string, options: EmailOptions = {}) =>
      post<EmailResult>("/v1/email/verify", options, { email, deep: options.deep, dns: options.dns }),
    verifyEmails: (emails: readonly string[], options: EmailOptions = {}) =>
      post<EmailBatch>("/v1/email/batch", options, {
        emails,
        deep: options.deep,
        dns: options.dns,
      }),
    streamEmails: (
      emails: readonly string[],
      options: EmailOptions = {},
    ): ResultStream<EmailResult, EmailSummary> =>
      stream("/v1/email/batch", options, { emails, deep: options.deep, dns: options.dns }),

    validateDocument: (type: DocumentType, value: string, options: CallOptions = {}) =>
      post<DocumentResult>("/v1/identity/validate", options, { type, value }),
    detectDocument: (value: string, options: CallOptions = {}) =>
      post<DetectedDocument>("/v1/identity/autodetect", options, { value }),
    /** An item without a type is detected. */
    validateDocuments: (items: readonly DocumentItem[], options: CallOptions = {}) =>
      post<DocumentBatch>("/v1/identity/batch", options, { items }),
    streamDocuments: (
      items: readonly DocumentItem[],
      options: CallOptions = {},
    ): ResultStream<DocumentOutcome, ValidSummary> => stream("/v1/identity/batch", options, { items }),

    validatePhone: (phone: string, options: PhoneOptions = {}) =>
      post<PhoneResult>("/v1/phone/validate", options, { phone, country: options.country }),
    validatePhones: (phones: readonly string[], options: PhoneOptions = {}) =>
      post<PhoneBatch>("/v1/phone/batch", options, {
        phones,
        country: options.country,
      }),
    streamPhones: (
      phones: readonly string[],
      options: PhoneOptions = {},
    ): ResultStream<PhoneResult, ValidSummary> =>
      stream("/v1/phone/batch", options, { phones, country: options.country }),

    ...createJobCalls(send, settings.pause ?? pause),

    listings: (query: ListingQuery = {}, options?: ReadOptions) =>
      get<ListingPage>("/v1/directory", query, options),
    listing: (host: string, options?: ReadOptions) =>
      get<Listing>(`/v1/directory/${encodeURIComponent(host)}`, {}, options),
    /** Throws RefusedError with status 503 while the server is failing. */
    health: (options?: ReadOptions) => get<Health>("/health", {}, options),
  };
}

async function json<Body>(reply: Response): Promise<Body> {
  return (await reply.json()) as Body;
}

type Query = { readonly [name: string]: string | number | undefined };

function queryText(query: Query): string {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) sent.set(name, String(value));
  return sent.size === 0 ? "" : `?${sent}`;
}
