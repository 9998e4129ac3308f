import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "../../defaults.ts";
import { Line } from "../../schema.ts";
import { WEBHOOK_EVENTS } from "../../words.ts";
import { described } from "../operation.ts";

const Url = Line(2_000, { minLength: 1 });
const Events = Type.Array(
  Type.String({
    enum: [...WEBHOOK_EVENTS],
    pattern: `^(?:${WEBHOOK_EVENTS.join("|").replaceAll(".", "\\.")})$`,
  }),
  { minItems: 1, maxItems: 100, demand: "must list one event or more" },
);

export const WebhookRequest = described(
  Type.Object({
    url: Url,
    events: Type.Optional(Events),
    description: Type.Optional(Line(200)),
  }),
  {
    url: "An https address with a public name.",
    events: "The events that it gets; all unless named.",
    description: "For your own lists.",
  },
  "WebhookRequest",
);

export const WebhookPatch = described(
  Type.Object({
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    enabled: Type.Optional(Type.Boolean()),
  }),
  {
    url: "An https address with a public name. Events are sent there from now on, retries included.",
    events: "The events that it gets from now on.",
    enabled: "`false` ends the retries that wait; `true` begins anew.",
  },
  "WebhookPatch",
);

export const RotateSecretRequest = described(
  Type.Object({ overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_592_000 })) }),
  {
    overlap_seconds: `How long the old secret signs beside the new one; ${DEFAULTS.overlapSeconds} where it is not named.`,
  },
  "RotateSecretRequest",
);

/** Of calls that say all with their path. */
export const NothingRequest = Type.Object({}, { $id: "NothingRequest" });

export const WEBHOOK_REQUESTS = [WebhookRequest, WebhookPatch, RotateSecretRequest, NothingRequest] as const;
