import { createFairShares } from "../billing/fair-shares.ts";
import { SERVICE_TAGS, type ServiceFacts } from "../contract/specification/document/service-document.ts";
import { modelRoutes } from "../http/routes/models.ts";
import { receiptRoutes } from "../http/routes/receipts.ts";
import { createChatWork, newReceiptId } from "../inference/chat.ts";
import { createModelList } from "../inference/model-list.ts";
import { createReceiptLedger } from "../inference/receipt-ledger.ts";
import { createUpstreams } from "../inference/upstreams.ts";
import { systemAddressLookup } from "../net/address-lookup.ts";
import { connectDirectly } from "../net/direct-connection.ts";
import { createHttpClient, type HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import { createSteps } from "../platform/steps.ts";
import { openInferenceDatabase } from "../store/sqlite/side-databases/inference/open-inference.ts";
import { databaseCheck } from "./database-check.ts";
import type { InferenceServiceConfig } from "./inference-settings.ts";
import { openPaidRoutes } from "./paid-inference.ts";
import type { Platform } from "./platform.ts";
import type { RunningServer } from "./server.ts";
import { type ServiceContent, type ServiceKernel, startService } from "./service.ts";
import { upstreamCheck } from "./upstream-check.ts";

const FACTS: ServiceFacts = {
  title: "Assay inference",
  summary: "Chat completions that are paid by the call, each with a signed receipt.",
  description:
    "OpenAI's chat completions, paid by the call with x402 in USDC on Base or Solana. A call is paid when its first token is there; what fails before costs nothing. Every answer has a signed receipt that anyone can check.",
  tags: [
    { name: "Chat", description: "Paid by the call." },
    { name: "Tasks", description: "Calls whose answer is fetched later." },
    { name: "Models", description: "What is served, and for how much. Free." },
    { name: "Receipts", description: "What was paid for, to be checked by anyone. Free." },
    SERVICE_TAGS.payments,
    SERVICE_TAGS.operation,
  ],
  guidance:
    "POST /v1/chat/completions takes OpenAI's body and answers as OpenAI does, with receipt and verify_url beside. POST /v1/quote with the same body returns the price for free. POST /task-request takes the same body and answers 202 with a status_url.",
};

const KEEP_ALIVE_MS = 15_000;
/** Bytes of a stream on the wire: its framing takes many times as much as its texts. */
const STREAM_BYTES_MAX = 268_435_456;
/** Bytes of answers that all open streams hold together. One payer alone may hold half; each further one has a share. */
const STREAMED_BYTES = { capacity: 268_435_456, ratio: 1, guaranteed: 262_144 };
const CHECKED_BODY_BYTES_MAX = 8_388_608;

/** Starts the inference service. Throws ConfigError or StoreOpenError with a sentence for the operator. */
export function startInferenceService(
  config: InferenceServiceConfig,
  platform: Platform,
): Promise<RunningServer> {
  const bodyBytesMax = Math.max(config.bodyBytesMax, CHECKED_BODY_BYTES_MAX);
  return startService({ ...config, bodyBytesMax }, platform, async (kernel, stack) =>
    openInference(config, platform, kernel, stack),
  );
}

function openInference(
  config: InferenceServiceConfig,
  platform: Platform,
  kernel: ServiceKernel,
  stack: AsyncDisposableStack,
): ServiceContent {
  const { clock } = platform;
  const { routing, payments, bodies, signingKey } = kernel;
  const { pricing } = config;
  const database = openInferenceDatabase(config.dataDir, clock);
  stack.defer(() => database[Symbol.dispose]());
  const { receipts } = database;
  const client = createUpstreamClient(clock, config.upstreamTimeoutMs);
  const step = createSteps(clock.monotonic);
  const upstreams = createUpstreams(config.upstreams, {
    client,
    clock,
    answerBytesMax: config.answerBytesMax,
    step,
    report: (facts) => platform.log.warn("an upstream failed", facts),
  });
  stack.use(upstreams);
  const now = () => clock.now();
  const ledger = createReceiptLedger({ store: receipts, signingKey, now, newReceiptId });
  ledger.issueInterrupted();
  const chatWork = createChatWork({
    upstreams,
    ledger,
    clock,
    keepAliveMs: KEEP_ALIVE_MS,
    room: createFairShares(STREAMED_BYTES),
    answerBytesMax: config.answerBytesMax,
    step,
  });
  const models = { upstreams: config.upstreams, client, clock, startedAt: clock.now() };
  const listModels = createModelList(pricing, models);
  return {
    facts: FACTS,
    routes: [
      ...openPaidRoutes(config, platform, kernel, { taskStore: database.tasks, chatWork, step }, stack),
      ...modelRoutes({ routing, listModels }),
      ...receiptRoutes({
        routing,
        store: receipts,
        signingKey,
        clock,
        keys: signingKey.publicKeys,
        findPayment: (receipt) => findPayment(receipts, payments, receipt.receipt_id),
        bodyBytesMax: CHECKED_BODY_BYTES_MAX,
        bodies,
        step,
      }),
    ],
    checks: { receipts: databaseCheck(database, clock), upstreams: upstreamCheck(upstreams, clock) },
  };
}

function createUpstreamClient(clock: Clock, timeoutMs: number): HttpClient {
  return createHttpClient(
    { lookUp: systemAddressLookup, clock, connect: connectDirectly },
    {
      // The operator names the upstreams, which may be in a private network.
      allowPrivate: true,
      ports: "any",
      limits: {
        headTimeoutMs: timeoutMs,
        idleTimeoutMs: timeoutMs,
        totalTimeoutMs: Number.POSITIVE_INFINITY,
        bodyBytesMax: STREAM_BYTES_MAX,
        decodedBytesMax: STREAM_BYTES_MAX,
      },
    },
  );
}

/** Returns the payment of a receipt. The receipt names it by its transaction; the stored row has its id. */
function findPayment(
  receipts: { readonly find: (receiptId: string) => { readonly paymentId: string } | undefined },
  payments: ServiceKernel["payments"],
  receiptId: string,
) {
  const row = receipts.find(receiptId);
  return row === undefined ? null : payments.find(row.paymentId);
}
