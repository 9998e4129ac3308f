import { SCAN_RESOURCES_MAX } from "../contract/scan-limits.ts";
import type { Resource } from "./evidence.ts";
import type { Planned, ProbeSender, Sent } from "./probe-sender.ts";
import type { NamedResource } from "./resources.ts";

/** What a resource takes at most: see `probesOf`. */
export const REQUESTS_OF_RESOURCE = 3;

/** The resources that count, and what they answered. */
export type ProbedResources = { readonly resources: readonly Resource[]; readonly sent: readonly Sent[] };

/**
 * Asks resources, as many as there are requests for. One that nobody but the caller names counts only where it asks to be
 * paid, or where there is no other: else anyone could have a service graded by its free pages.
 */
export async function probeResources(
  sender: ProbeSender,
  named: readonly NamedResource[],
): Promise<ProbedResources> {
  const doubtful = named.filter(({ isConfirmed }) => !isConfirmed);
  const looks = doubtful.flatMap(probesOf).filter(({ role }) => role !== "resource_head");
  // What is left behind them is for what they leave to be asked, and for one resource that the origin names.
  sender.allowExtra(Math.max(0, sender.left() - looks.length - doubtful.length - REQUESTS_OF_RESOURCE));
  const looked = await sender.send(looks);
  const asksToBePaid = ({ url }: NamedResource) =>
    looked.some(({ exchange }) => exchange.url === url && exchange.status === 402);
  const counting = named.filter((one) => one.isConfirmed || asksToBePaid(one)).slice(0, SCAN_RESOURCES_MAX);
  const isLeft = ({ role, url }: Planned) =>
    !looked.some(({ exchange }) => exchange.role === role && exchange.url === url);
  const leftOf = (resource: Resource) => probesOf(resource).filter(isLeft);
  const kept = thatFit(counting.length > 0 ? counting : doubtful, sender.left(), leftOf);
  const planned = kept.flatMap(leftOf);
  sender.allowExtra(sender.left() - planned.length);
  const isKept = ({ exchange }: Sent) => kept.some(({ url }) => url === exchange.url);
  const sent = [...looked.filter(isKept), ...(await sender.send(planned))];
  return { resources: kept.map(({ isConfirmed: _, ...resource }) => resource), sent };
}

/** Returns the first resources, as many as there are requests for. */
function thatFit(
  resources: readonly NamedResource[],
  requests: number,
  probes: (resource: Resource) => readonly Planned[],
): readonly NamedResource[] {
  let left = requests;
  return resources.filter((resource) => {
    left -= probes(resource).length;
    return left >= 0;
  });
}

/** The declared method, and a POST without a body where that is another. HEAD where the resource is read. */
function probesOf({ method, url }: Resource): Planned[] {
  if (method === "POST") return [{ role: "resource", method: "POST", url }];
  return [
    { role: "resource", method: "GET", url },
    { role: "resource_head", method: "HEAD", url },
    { role: "resource_post", method: "POST", url },
  ];
}
