import { Elysia } from "elysia";
import { phoneWithoutCard } from "../../batch/card-redaction.ts";
import { isOutcomeCharged, PHONE_UNITS } from "../../billing/units.ts";
import { ApiError } from "../../contract/errors.ts";
import { PhoneBatchQuery, PhoneQuery } from "../../contract/result-schemas.ts";
import { createReader } from "../../contract/schema.ts";
import {
  validatePhone as validatePhoneGet,
  validatePhonePost,
  validatePhones,
} from "../../contract/specification/phone.ts";
import { checkFailed, type PhoneRegion, type PhoneResult } from "../../verification/phone/phone-number.ts";
import { readCountry } from "../../verification/phone/region.ts";
import { validatePhone } from "../../verification/phone/validation.ts";
import { type BatchBody, type BatchRouteParts, batchHandler } from "../batch-handler.ts";
import type { Boundary } from "../boundary.ts";
import type { Charged } from "../metered.ts";
import { restorePlusOfPhone } from "../plus.ts";
import { BODY_UNREAD } from "../request-body.ts";

export type PhoneRouteParts = {
  readonly boundary: Boundary;
  readonly charged: Charged;
  readonly batch: BatchRouteParts;
};

type Asked = { readonly phone: string; readonly region: PhoneRegion | undefined };

const phoneParameters = createReader(PhoneQuery);
const batchQuery = createReader(PhoneBatchQuery);

/** Checks of phone numbers, one at a time or in batches. */
export function phoneRoutes({ boundary, charged, batch }: PhoneRouteParts) {
  const validate = charged<Asked, PhoneResult>({
    route: "/v1/phone/validate",
    fromQuery: (url) => {
      const { phone, country } = phoneParameters.query(url);
      return { phone: restorePlusOfPhone(phone), region: regionOf(country) };
    },
    fromBody: (body) => {
      const { phone, country } = phoneParameters.body(body);
      return { phone, region: regionOf(country) };
    },
    units: () => PHONE_UNITS,
    work: ({ phone, region }) => phoneWithoutCard(validatePhone(phone, region)),
    failed: ({ phone }) => checkFailed(phone),
    isCharged: ({ reason }) => isOutcomeCharged(reason),
    write: JSON.stringify,
  });
  return new Elysia({ name: "phone" })
    .get("/v1/phone/validate", boundary.route<PhoneResult>("/v1/phone/validate", validate.get), {
      detail: validatePhoneGet,
    })
    .post("/v1/phone/validate", boundary.route<PhoneResult>("/v1/phone/validate", validate.post), {
      ...BODY_UNREAD,
      detail: validatePhonePost,
    })
    .post(
      "/v1/phone/batch",
      boundary.route<BatchBody<PhoneResult>>(
        "/v1/phone/batch",
        batchHandler(batch, {
          kind: "phone",
          statuses: ["valid", "invalid"],
          readQuery: batchQuery.query,
          check: ({ country }) => void regionOf(country),
          unitsPerItem: () => PHONE_UNITS,
        }),
      ),
      { ...BODY_UNREAD, detail: validatePhones },
    );
}

/** The default country of a call; throws `invalid_request` for one that is none. */
function regionOf(country: string | undefined): PhoneRegion | undefined {
  if (country === undefined) return undefined;
  const region = readCountry(country);
  if (region !== null) return region;
  throw new ApiError("invalid_request", "country must be an ISO 3166 alpha-2 code or a calling code.");
}
