import type { Caller } from "./caller.ts";

/** What a caller has asked for, and how much of it was answered, until the server was killed. */
export type ChargeLedger = { readonly key: string; asked: number; acknowledged: number };

/** Validates one number after the other until a call fails. `onRefused` gets every other status than 200. */
export async function chargeUntilDead(
  { call }: Caller,
  ledger: ChargeLedger,
  onRefused: (status: number) => void = () => {},
): Promise<void> {
  for (let count = 0; count < 10_000; count += 1) {
    ledger.asked += 1;
    const reply = await call(`/v1/phone/validate?phone=%2B4420794${count}`, { key: ledger.key });
    await reply.json();
    if (reply.status === 200) ledger.acknowledged += 1;
    else onRefused(reply.status);
  }
}
