import directory390 from "./pictures/directory-390.webp" with { type: "file" };
import directory1366 from "./pictures/directory-1366.webp" with { type: "file" };
import enter390 from "./pictures/enter-390.webp" with { type: "file" };
import enter1366 from "./pictures/enter-1366.webp" with { type: "file" };
import invoice390 from "./pictures/invoice-390.webp" with { type: "file" };
import invoice1366 from "./pictures/invoice-1366.webp" with { type: "file" };
import keys390 from "./pictures/keys-390.webp" with { type: "file" };
import keys1366 from "./pictures/keys-1366.webp" with { type: "file" };
import list390 from "./pictures/list-390.webp" with { type: "file" };
import list1366 from "./pictures/list-1366.webp" with { type: "file" };
import listing390 from "./pictures/listing-390.webp" with { type: "file" };
import listing1366 from "./pictures/listing-1366.webp" with { type: "file" };
import lists390 from "./pictures/lists-390.webp" with { type: "file" };
import lists1366 from "./pictures/lists-1366.webp" with { type: "file" };
import overview390 from "./pictures/overview-390.webp" with { type: "file" };
import overview1366 from "./pictures/overview-1366.webp" with { type: "file" };
import plan390 from "./pictures/plan-390.webp" with { type: "file" };
import plan1366 from "./pictures/plan-1366.webp" with { type: "file" };
import tryOut390 from "./pictures/try-390.webp" with { type: "file" };
import tryOut1366 from "./pictures/try-1366.webp" with { type: "file" };
import webhook390 from "./pictures/webhook-390.webp" with { type: "file" };
import webhook1366 from "./pictures/webhook-1366.webp" with { type: "file" };
import webhooks390 from "./pictures/webhooks-390.webp" with { type: "file" };
import webhooks1366 from "./pictures/webhooks-1366.webp" with { type: "file" };

/** Pictures of the console's views, by name: where their files are. They are taken by `test/console/pictures.ts`. */
export const PICTURES: { readonly [name: string]: string } = {
  "enter-1366": enter1366,
  "enter-390": enter390,
  "overview-1366": overview1366,
  "overview-390": overview390,
  "try-1366": tryOut1366,
  "try-390": tryOut390,
  "lists-1366": lists1366,
  "lists-390": lists390,
  "list-1366": list1366,
  "list-390": list390,
  "keys-1366": keys1366,
  "keys-390": keys390,
  "webhooks-1366": webhooks1366,
  "webhooks-390": webhooks390,
  "webhook-1366": webhook1366,
  "webhook-390": webhook390,
  "plan-1366": plan1366,
  "plan-390": plan390,
  "invoice-1366": invoice1366,
  "invoice-390": invoice390,
  "directory-1366": directory1366,
  "directory-390": directory390,
  "listing-1366": listing1366,
  "listing-390": listing390,
};
