import type { Static } from "@sinclair/typebox";
import { isOutcomeCharged, PHONE_UNITS } from "../../billing/units.ts";
import { ApiError } from "../../contract/errors.ts";
import type { PhoneQuery } from "../../contract/result-schemas.ts";
import { queryReader } from "../../contract/schema.ts";
import {
  validatePhone as validatePhoneGet,
  validatePhonePost,
  validatePhones,
} from "../../contract/specification/verification/phone.ts";
import { phoneWithoutCard } from "../../verification/card-redaction.ts";
import { checkFailed, type PhoneRegion } from "../../verification/phone/phone-number.ts";
import { readCountry } from "../../verification/phone/region.ts";
import { validatePhone } from "../../verification/phone/validation.ts";
import { batchHandler } from "../batch-handler.ts";
import type { CheckRouteDependencies } from "../metered.ts";
import { restorePlusOfPhone } from "../plus.ts";
import type { Route } from "../routing.ts";

/** Checks of phone numbers, one at a time or in batches. */
export function phoneRoutes({ routing, metered, batch }: CheckRouteDependencies): readonly Route[] {
  return [
    ...metered({
      get: validatePhoneGet,
      post: validatePhonePost,
      fromQuery: (fields) => askedPhone({ ...fields, phone: restorePlusOfPhone(fields.phone) }),
      fromBody: askedPhone,
      units: () => PHONE_UNITS,
      work: ({ phone, region }) => phoneWithoutCard(validatePhone(phone, region)),
      failed: ({ phone }) => phoneWithoutCard(checkFailed(phone)),
      isCharged: ({ reason }) => isOutcomeCharged(reason),
      write: JSON.stringify,
    }),
    routing.keyed(
      validatePhones,
      batchHandler(batch, {
        kind: "phone",
        readQuery: queryReader(validatePhones),
        check: ({ country }) => void regionOf(country),
        unitsPerItem: () => PHONE_UNITS,
      }),
    ),
  ];
}

function askedPhone({ phone, country }: Static<typeof PhoneQuery>) {
  return { phone, region: regionOf(country) };
}

/** Returns the default country of a call. Throws `invalid_request` for an invalid one. */
function regionOf(country: string | undefined): PhoneRegion | undefined {
  if (country === undefined) return undefined;
  const region = readCountry(country);
  if (region !== null) return region;
  throw new ApiError("invalid_request", "country must be an ISO 3166 alpha-2 code or a calling code.");
}
