import { Elysia } from "elysia";
import { IDENTITY_UNITS, isOutcomeCharged } from "../../billing/units.ts";
import { AutodetectQuery, IdentityQuery } from "../../contract/result-schemas.ts";
import { createReader } from "../../contract/schema.ts";
import {
  detectDocument,
  detectDocumentPost,
  validateDocument as validateDocumentGet,
  validateDocumentPost,
  validateDocuments,
} from "../../contract/specification/identity.ts";
import { autodetect } from "../../verification/documents/autodetect.ts";
import type { AutodetectResult, DocumentType, IdentityResult } from "../../verification/documents/outcome.ts";
import { checkFailed, validateDocument } from "../../verification/documents/registry.ts";
import { type BatchBody, type BatchRouteParts, batchHandler } from "../batch-handler.ts";
import type { Boundary } from "../boundary.ts";
import type { Charged } from "../metered.ts";
import { BODY_UNREAD } from "../request-body.ts";

export type IdentityRouteParts = {
  readonly boundary: Boundary;
  readonly charged: Charged;
  readonly batch: BatchRouteParts;
};

const identityParameters = createReader(IdentityQuery);
const autodetectParameters = createReader(AutodetectQuery);

/** Checks of identity documents, one at a time or in batches. */
export function identityRoutes({ boundary, charged, batch }: IdentityRouteParts) {
  const validate = charged<{ type: DocumentType; value: string }, IdentityResult>({
    route: "/v1/identity/validate",
    fromQuery: identityParameters.query,
    fromBody: identityParameters.body,
    units: () => IDENTITY_UNITS,
    work: ({ type, value }) => validateDocument(type, value),
    failed: ({ type, value }) => checkFailed(type, value),
    isCharged: ({ reason }) => isOutcomeCharged(reason),
    write: JSON.stringify,
  });
  const detect = charged<{ value: string }, AutodetectResult>({
    route: "/v1/identity/autodetect",
    fromQuery: autodetectParameters.query,
    fromBody: autodetectParameters.body,
    units: () => IDENTITY_UNITS,
    work: ({ value }) => autodetect(value),
    failed: ({ value }) => checkFailed(null, value),
    isCharged: ({ reason }) => isOutcomeCharged(reason),
    write: JSON.stringify,
  });
  return new Elysia({ name: "identity" })
    .get("/v1/identity/validate", boundary.route<IdentityResult>("/v1/identity/validate", validate.get), {
      detail: validateDocumentGet,
    })
    .post("/v1/identity/validate", boundary.route<IdentityResult>("/v1/identity/validate", validate.post), {
      ...BODY_UNREAD,
      detail: validateDocumentPost,
    })
    .get("/v1/identity/autodetect", boundary.route<AutodetectResult>("/v1/identity/autodetect", detect.get), {
      detail: detectDocument,
    })
    .post(
      "/v1/identity/autodetect",
      boundary.route<AutodetectResult>("/v1/identity/autodetect", detect.post),
      {
        ...BODY_UNREAD,
        detail: detectDocumentPost,
      },
    )
    .post(
      "/v1/identity/batch",
      boundary.route<BatchBody<IdentityResult | AutodetectResult>>(
        "/v1/identity/batch",
        batchHandler(batch, {
          kind: "identity",
          statuses: ["valid", "invalid"],
          readQuery: () => ({}),
          check: () => undefined,
          unitsPerItem: () => IDENTITY_UNITS,
        }),
      ),
      { ...BODY_UNREAD, detail: validateDocuments },
    );
}
