import type { Accepted } from "../contract/specification/directory/check.ts";
import { findNetwork } from "../payments/networks.ts";
import { isObject, parseObject } from "../platform/json-value.ts";
import type { ProbeStatus } from "../store/probe-port.ts";

/** A reply to an unpaid call, as far as a probe reads it. */
export type ProbedReply = {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: string;
};

export type Probed = { readonly status: ProbeStatus; readonly accepts: readonly Accepted[] };

const ACCEPTS_MAX = 20;
const TEXT_LENGTH_MAX = 200;

/**
 * Returns what a reply says of a resource; null stands for no reply at all. A refusal of the caller (403, 429) is not
 * a resource that is down, nor is one that cannot be paid. `isPaid`: the directory lists a price.
 */
export function readProbe(reply: ProbedReply | null, isPaid: boolean): Probed {
  if (reply === null) return { status: "down", accepts: [] };
  const { status } = reply;
  if (status === 402) {
    const accepts = acceptsOf(reply);
    return { status: accepts.length > 0 ? "paid" : "payment_broken", accepts };
  }
  if (status === 403 || status === 429) return { status: "blocked", accepts: [] };
  if (status >= 500) return { status: "down", accepts: [] };
  return { status: isPaid ? "payment_broken" : "paid", accepts: [] };
}

/** The ways to pay that are whole: of the header, which version 2 reads, and of the body where version 1 reads others. */
function acceptsOf({ headers, body }: ProbedReply): readonly Accepted[] {
  const header = headers.get("payment-required");
  const second = header === null ? [] : waysOf(Buffer.from(header, "base64").toString("utf8"));
  if (header !== null && second.length === 0) return [];
  const known = new Set(second.map(wayKey));
  return [...second, ...waysOf(body).filter((way) => !known.has(wayKey(way)))];
}

function waysOf(text: string): readonly Accepted[] {
  const entries: unknown = parseObject(text)?.accepts;
  if (!Array.isArray(entries)) return [];
  return entries.slice(0, ACCEPTS_MAX).flatMap((entry: unknown) => {
    if (!isObject(entry)) return [];
    const { network, asset, payTo } = entry;
    const amount = entry.amount ?? entry.maxAmountRequired;
    const isAmount = typeof amount === "string" && /^\d{1,30}$/.test(amount);
    if (!isText(network) || !isText(asset) || !isText(payTo) || !isAmount) return [];
    return [{ network, asset, amount, pay_to: payTo }];
  });
}

/** Networks go by other names in version 1. */
function wayKey({ network, asset, amount, pay_to }: Accepted): string {
  return JSON.stringify([findNetwork(network)?.id ?? network, asset, amount, pay_to]);
}

/** Text with half a character is refused: verdicts are signed, and that cannot be. */
function isText(value: unknown): value is string {
  const isShort = typeof value === "string" && value !== "" && value.length <= TEXT_LENGTH_MAX;
  return isShort && value.isWellFormed();
}
