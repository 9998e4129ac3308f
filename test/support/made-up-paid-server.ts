import type { PaidWork } from "../../src/http/paid.ts";
import { MADE_UP_PAYEE, type MadeUpFacilitator } from "./made-up-facilitator.ts";
import { startPaidServer } from "./paid-server.ts";

/** A paid server in memory that settles with a made-up facilitator. */
export function startMadeUpPaidServer({ url }: Pick<MadeUpFacilitator, "url">, work: PaidWork["work"]) {
  return startPaidServer({
    dataDir: null,
    facilitatorUrl: url,
    payeeOnBase: MADE_UP_PAYEE,
    payeeOnSolana: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
    settleDeadlineMs: 500,
    work,
  });
}
