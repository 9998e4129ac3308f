import { Elysia } from "elysia";
import { emailWithoutCard } from "../batch/card-secrecy.ts";
import type { EmailCheck } from "../domains/email-check.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { checkFailed } from "../email/verification.ts";
import { emailUnits, isEmailCharged } from "../metering/units.ts";
import type { BatchBody, BatchRouteParts } from "./batch.ts";
import { batchHandler } from "./batch.ts";
import type { Boundary } from "./boundary.ts";
import type { Charged } from "./charged.ts";
import { restorePlus } from "./plus.ts";
import { BODY_UNREAD } from "./request-body.ts";
import { createReader } from "./schema.ts";
import { verifyEmail, verifyEmailPost, verifyEmails } from "./specification/email.ts";
import { EmailBatchQuery, EmailQuery } from "./wire.ts";

export type EmailRouteParts = {
  readonly boundary: Boundary;
  readonly charged: Charged;
  readonly batch: BatchRouteParts;
  readonly checkEmail: EmailCheck;
};

const verifyParameters = createReader(EmailQuery);
const batchQuery = createReader(EmailBatchQuery);

const STATUSES = ["deliverable", "risky", "undeliverable", "unknown"];

/** Verification of addresses, one at a time or in batches. */
export function emailRoutes({ boundary, charged, batch, checkEmail }: EmailRouteParts) {
  const verify = charged<{ email: string; deep?: boolean; dns?: boolean }, EmailVerification>({
    route: "/v1/email/verify",
    fromQuery: (url) => {
      const query = verifyParameters.query(url);
      return { ...query, email: restorePlus(query.email) };
    },
    fromBody: verifyParameters.body,
    units: ({ deep }) => emailUnits(deep ?? false),
    work({ email, deep, dns }) {
      const result = checkEmail(email, { deep: deep ?? false, dns: dns ?? true });
      return result instanceof Promise ? result.then(emailWithoutCard) : emailWithoutCard(result);
    },
    failed: ({ email }) => checkFailed(email),
    isCharged: (result) => isEmailCharged(result.sub_status),
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
