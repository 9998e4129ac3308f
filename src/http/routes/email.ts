import type { Static } from "@sinclair/typebox";
import { writtenEmail } from "../../batch/written-email.ts";
import { emailUnits, isEmailCharged } from "../../billing/units.ts";
import { DEFAULTS } from "../../contract/defaults.ts";
import type { EmailQuery } from "../../contract/result-schemas.ts";
import { queryReader } from "../../contract/schema.ts";
import {
  verifyEmail,
  verifyEmailPost,
  verifyEmails,
} from "../../contract/specification/verification/email.ts";
import type { EmailCheck } from "../../domains/email-check.ts";
import { checkFailed, type WrittenVerification } from "../../verification/email/verification.ts";
import { batchHandler } from "../batch-handler.ts";
import type { CheckRouteDependencies } from "../metered.ts";
import { restorePlus } from "../plus.ts";
import type { Route } from "../routing.ts";

export type EmailRouteDependencies = CheckRouteDependencies & {
  readonly writeEmail: EmailCheck<WrittenVerification>;
};

type AskedEmail = { readonly email: string; readonly deep: boolean; readonly dns: boolean };

function askedEmail(
  { email, deep = DEFAULTS.deep, dns = DEFAULTS.dns }: Static<typeof EmailQuery>,
  read = (text: string) => text,
): AskedEmail {
  return { email: read(email), deep, dns };
}

/** Verification of addresses, one at a time or in batches. */
export function emailRoutes({
  routing,
  metered,
  batch,
  writeEmail,
}: EmailRouteDependencies): readonly Route[] {
  return [
    ...metered({
      get: verifyEmail,
      post: verifyEmailPost,
      fromQuery: (fields) => askedEmail(fields, restorePlus),
      fromBody: (fields) => askedEmail(fields),
      units: ({ deep }) => emailUnits(deep),
      work: ({ email, deep, dns }, { accountId }) => writeEmail(email, { deep, dns, tenant: accountId }),
      failed: ({ email }) => writtenEmail(checkFailed(email)),
      isCharged: ({ sub_status }) => isEmailCharged(sub_status),
      write: ({ json }) => json,
    }),
    routing.keyed(
      verifyEmails,
      batchHandler(batch, {
        kind: "email",
        readQuery: queryReader(verifyEmails),
        check: () => undefined,
        unitsPerItem: ({ deep }) => emailUnits(deep ?? DEFAULTS.deep),
      }),
    ),
  ];
}
