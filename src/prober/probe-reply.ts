import type { Accepted } from "../contract/specification/directory/check.ts";
import { findNetwork } from "../payments/networks.ts";
import { misspeltField, WAYS_MAX, waysIn } from "../payments/ways-to-pay.ts";
import { parseObject } from "../platform/json-value.ts";
import type { ProbeStatus } from "../store/probe-port.ts";

/** A reply to an unpaid call, as far as a probe reads it. */
export type ProbedReply = {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: string;
  /** The body was longer than what is read of one. */
  readonly isTruncated: boolean;
};

export type Probed = { readonly status: ProbeStatus; readonly accepts: readonly Accepted[] };

const TEXT_LENGTH_MAX = 200;

/** Decodes UTF-8 as clients of a service do: without its byte order mark. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

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

/**
 * The ways to pay that are whole: of the header, which version 2 reads, and of the body where version 1 reads others. None
 * where some of them cannot be read here, or not as all clients do: any price and payee may be among those.
 */
function acceptsOf({ headers, body, isTruncated }: ProbedReply): readonly Accepted[] {
  const header = headers.get("payment-required");
  const second = header === null ? [] : waysOf(decode(Buffer.from(header, "base64")), "amount");
  const first = isTruncated && body.trimStart().startsWith("{") ? null : waysOf(body, "maxAmountRequired");
  if (second === null || first === null || (header !== null && second.length === 0)) return [];
  const ways = new Map<string, Accepted>();
  for (const way of [...second, ...first]) {
    const key = wayKey(way);
    if (!ways.has(key)) ways.set(key, way);
  }
  return ways.size > WAYS_MAX ? [] : [...ways.values()];
}

/**
 * Returns the ways of a challenge, with the amount in the field of its version, or in the other without it. Null where
 * clients read different ones in it.
 */
function waysOf(text: string, amountField: "amount" | "maxAmountRequired"): readonly Accepted[] | null {
  const challenge = parseObject(text);
  if (challenge === null) return [];
  if (misspeltField(challenge) !== null) return null;
  const ways: Accepted[] = [];
  for (const entry of waysIn(challenge)) {
    const { network, asset, payTo } = entry;
    const amount = entry[amountField] ?? entry.amount ?? entry.maxAmountRequired ?? null;
    if (!isText(network) || !isText(asset) || !isText(payTo) || amount === null) continue;
    // Numbers and hexadecimal digits are an amount for some clients.
    if (typeof amount !== "string" || !/^\d{1,30}$/.test(amount)) return null;
    ways.push({ network, asset, amount, pay_to: payTo });
  }
  return ways;
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
