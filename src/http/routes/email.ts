import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { writtenEmail } from "../../batch/written-email.ts";
import { emailUnits, isEmailCharged } from "../../billing/units.ts";
import { EmailBatchQuery, EmailQuery } from "../../contract/result-schemas.ts";
import { createReader } from "../../contract/schema.ts";
import { verifyEmail, verifyEmailPost, verifyEmails } from "../../contract/specification/email.ts";
import type { EmailCheck } from "../../domains/email-check.ts";
import type { EmailVerification } from "../../verification/email/email-verification.ts";
import { checkFailed, type WrittenVerification } from "../../verification/email/verification.ts";
import type { BatchBody, BatchRouteParts } from "../batch-handler.ts";
import { batchHandler } from "../batch-handler.ts";
import type { Boundary } from "../boundary.ts";
import type { Charged } from "../metered.ts";
import { restorePlus } from "../plus.ts";
import { BODY_UNREAD } from "../request-body.ts";

export type EmailRouteParts = {
  readonly boundary: Boundary;
  readonly charged: Charged;
  readonly batch: BatchRouteParts;
  readonly writeEmail: EmailCheck<WrittenVerification>;
};

const verifyParameters = createReader(EmailQuery);
const batchQuery = createReader(EmailBatchQuery);

type AskedEmail = {
  readonly email: string;
  readonly options: { readonly deep: boolean; readonly dns: boolean };
};

function askedEmail({ email, deep = false, dns = true }: Static<typeof EmailQuery>): AskedEmail {
  return { email, options: { deep, dns } };
}

const STATUSES = ["deliverable", "risky", "undeliverable", "unknown"];

/** Verification of addresses, one at a time or in batches. */
export function emailRoutes({ boundary, charged, batch, writeEmail }: EmailRouteParts) {
  const verify = charged<AskedEmail, WrittenVerification>({
    route: "/v1/email/verify",
    fromQuery(url) {
      const asked = askedEmail(verifyParameters.query(url));
      return { ...asked, email: restorePlus(asked.email) };
    },
    fromBody: (body) => askedEmail(verifyParameters.body(body)),
    units: ({ options }) => emailUnits(options.deep),
    work: ({ email, options }) => writeEmail(email, options),
    failed: ({ email }) => writtenEmail(checkFailed(email)),
    isCharged: ({ sub_status }) => isEmailCharged(sub_status),
    write: ({ json }) => json,
  });
  return new Elysia({ name: "email" })
    .get("/v1/email/verify", boundary.route<EmailVerification>("/v1/email/verify", verify.get), {
      detail: verifyEmail,
    })
    .post("/v1/email/verify", boundary.route<EmailVerification>("/v1/email/verify", verify.post), {
      ...BODY_UNREAD,
      detail: verifyEmailPost,
    })
    .post(
      "/v1/email/batch",
      boundary.route<BatchBody<EmailVerification>>(
        "/v1/email/batch",
        batchHandler(batch, {
          kind: "email",
          statuses: STATUSES,
          readQuery: batchQuery.query,
          check: () => undefined,
          unitsPerItem: ({ deep }) => emailUnits(deep ?? false),
        }),
      ),
      { ...BODY_UNREAD, detail: verifyEmails },
    );
}
