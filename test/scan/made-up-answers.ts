import { type Answer, type Challenge, challengeReply } from "./made-up-service.ts";

/** Answers of a made-up service, and changes of its challenge. */

type Entry = Challenge["accepts"][number];

export const BASE_PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const SOLANA_PAYEE = "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4";
export const SOLANA = {
  network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  payTo: SOLANA_PAYEE,
  extra: { feePayer: "EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd" },
};

export const changed = (change: object) => (it: Challenge) => ({
  ...it,
  accepts: it.accepts.map((entry) => ({ ...entry, ...change })),
});
export const and = (more: object) => (it: Challenge) => ({
  ...it,
  accepts: [...it.accepts, { ...(it.accepts[0] as Entry), ...more }],
});
export const status = (code: number) => Response.json({}, { status: code });
export const redirect = (location: string, code = 307) =>
  new Response(null, { status: code, headers: { Location: location } });
export const good = async (origin: string, path: string, change: object = {}) => {
  const it = {
    x402Version: 2,
    resource: { url: `${origin}${path}` },
    accepts: [
      {
        scheme: "exact",
        network: "eip155:8453",
        amount: "10000",
        asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        payTo: BASE_PAYEE,
        maxTimeoutSeconds: 60,
        extra: { name: "USD Coin", version: "2" },
        ...change,
      },
    ],
    extensions: { bazaar: { info: { input: {} }, schema: { required: ["input"] } } },
  };
  return challengeReply(it);
};
export const only =
  (method: string, path: string): Answer =>
  (request, origin) =>
    request.method === method ? good(origin, path) : status(405);
const MARK = { price: { mode: "fixed", currency: "USD", amount: "0.01" } };
export const PAID = { "x-payment-info": MARK, responses: { 402: {} } };
export const json =
  (value: unknown): Answer =>
  () =>
    Response.json(value);
export const noOpenApi: Answer = () => status(404);
export const version1 = (entry: object, header?: object) => () => {
  const whole = { resource: "https://good.example/v1/paid", description: "", maxTimeoutSeconds: 60 };
  const body = { x402Version: 1, accepts: [{ scheme: "exact", ...whole, ...entry }] };
  const headers = header === undefined ? {} : { "PAYMENT-REQUIRED": btoa(JSON.stringify(header)) };
  return Response.json(body, { status: 402, headers });
};
export const PAYS = {
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payTo: BASE_PAYEE,
  extra: { name: "USD Coin", version: "2" },
};
