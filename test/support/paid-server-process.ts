import { type PaidServerOptions, startPaidServer } from "./paid-server.ts";

/** A paid server in a process of its own, to be killed. Its options are JSON in the first argument. */
const options = JSON.parse(process.argv[2] ?? "{}") as Omit<PaidServerOptions, "work">;
const server = startPaidServer({
  ...options,
  work: async ({ paymentId }) => {
    await Bun.sleep(Math.random() * 10);
    return { kind: "answer", status: 200, headers: {}, body: JSON.stringify({ for: paymentId }) };
  },
});
process.stdout.write(`${server.url}\n`);
