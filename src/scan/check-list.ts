import type { Check } from "./check.ts";
import { discAgent } from "./checks/disc-agent.ts";
import { discBazaar } from "./checks/disc-bazaar.ts";
import { discLlms } from "./checks/disc-llms.ts";
import { discOpenapi } from "./checks/disc-openapi.ts";
import { discWellknown } from "./checks/disc-wellknown.ts";
import { httpCors } from "./checks/http-cors.ts";
import { httpErrors } from "./checks/http-errors.ts";
import { httpSemantics } from "./checks/http-semantics.ts";
import { opsSignals } from "./checks/ops-signals.ts";
import { pay402 } from "./checks/pay-402.ts";
import { payAsset } from "./checks/pay-asset.ts";
import { payBinding } from "./checks/pay-binding.ts";
import { payFirst } from "./checks/pay-first.ts";
import { payHeadersize } from "./checks/pay-headersize.ts";
import { payNetwork } from "./checks/pay-network.ts";
import { payParse } from "./checks/pay-parse.ts";
import { payPayee } from "./checks/pay-payee.ts";
import { payPrice } from "./checks/pay-price.ts";
import { paySchema } from "./checks/pay-schema.ts";
import { payWildcard } from "./checks/pay-wildcard.ts";
import { reachDns } from "./checks/reach-dns.ts";
import { reachHeaders } from "./checks/reach-headers.ts";
import { reachHttps } from "./checks/reach-https.ts";
import { reachLatency } from "./checks/reach-latency.ts";
import { reachTls } from "./checks/reach-tls.ts";

/** The 25 checks, in the order of the report. Their weights add up to 100. */
export const CHECKS: readonly Check[] = [
  reachDns,
  reachTls,
  reachHttps,
  reachHeaders,
  reachLatency,
  pay402,
  payParse,
  paySchema,
  payNetwork,
  payAsset,
  payPayee,
  payPrice,
  payBinding,
  payFirst,
  payWildcard,
  payHeadersize,
  discWellknown,
  discOpenapi,
  discBazaar,
  discLlms,
  discAgent,
  httpErrors,
  httpSemantics,
  httpCors,
  opsSignals,
];
