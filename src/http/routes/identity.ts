import { IDENTITY_UNITS, isOutcomeCharged } from "../../billing/units.ts";
import {
  detectDocument,
  detectDocumentPost,
  validateDocument as validateDocumentGet,
  validateDocumentPost,
  validateDocuments,
} from "../../contract/specification/verification/identity.ts";
import { autodetect } from "../../verification/documents/autodetect.ts";
import { checkFailed, validateDocument } from "../../verification/documents/registry.ts";
import { batchHandler } from "../batch-handler.ts";
import type { CheckRouteDependencies } from "../metered.ts";
import type { Route } from "../routing.ts";

/** Checks of identity documents, one at a time or in batches. */
export function identityRoutes({ routing, metered, batch }: CheckRouteDependencies): readonly Route[] {
  return [
    ...metered({
      get: validateDocumentGet,
      post: validateDocumentPost,
      fromQuery: (fields) => fields,
      fromBody: (fields) => fields,
      units: () => IDENTITY_UNITS,
      work: ({ type, value }) => validateDocument(type, value),
      failed: ({ type, value }) => checkFailed(type, value),
      isCharged: ({ reason }) => isOutcomeCharged(reason),
      write: JSON.stringify,
    }),
    ...metered({
      get: detectDocument,
      post: detectDocumentPost,
      fromQuery: (fields) => fields,
      fromBody: (fields) => fields,
      units: () => IDENTITY_UNITS,
      work: ({ value }) => autodetect(value),
      failed: ({ value }) => checkFailed(null, value),
      isCharged: ({ reason }) => isOutcomeCharged(reason),
      write: JSON.stringify,
    }),
    routing.keyed(
      validateDocuments,
      batchHandler(batch, {
        kind: "identity",
        readQuery: () => ({}),
        check: () => undefined,
        unitsPerItem: () => IDENTITY_UNITS,
      }),
    ),
  ];
}
