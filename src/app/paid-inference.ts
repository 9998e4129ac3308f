import { createFairShares } from "../billing/fair-shares.ts";
import { formatUsd } from "../billing/money.ts";
import { taskWork } from "../http/chat-call.ts";
import { chatRoutes } from "../http/routes/chat.ts";
import { taskRoutes } from "../http/routes/tasks.ts";
import type { Route } from "../http/routing.ts";
import type { ChatCall, ChatWork } from "../inference/chat.ts";
import { MAX_MICRO_USD, MIN_MICRO_USD } from "../inference/cost-bound.ts";
import { createQuotes } from "../inference/quote.ts";
import { createTariff, createTaskTariff } from "../inference/tariff.ts";
import { createTasks } from "../inference/tasks.ts";
import { pause } from "../platform/pause.ts";
import type { Steps } from "../platform/steps.ts";
import { openSecret } from "../signing/secret.ts";
import type { TaskStore } from "../store/task-port.ts";
import type { InferenceServiceConfig } from "./inference-settings.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { ServiceKernel } from "./service.ts";
import { PRUNE_INTERVAL_MS, repeatUpkeep } from "./upkeep.ts";

const FLAT_PRICE = { mode: "fixed", amountUsd: "0.01" } as const;
const COST_PLUS_PRICE = {
  mode: "dynamic",
  minUsd: formatUsd(MIN_MICRO_USD),
  maxUsd: formatUsd(MAX_MICRO_USD),
} as const;

/** Opens the tasks, and returns the routes that are paid by the call: chats and tasks. */
export function openPaidRoutes(
  config: InferenceServiceConfig,
  { clock, log, randomBytes }: Platform,
  { routing, paid, payments, bodies, originOf }: ServiceKernel,
  {
    taskStore,
    chatWork,
    step,
  }: {
    readonly taskStore: TaskStore;
    readonly chatWork: (call: ChatCall) => ChatWork;
    readonly step: Steps;
  },
  stack: AsyncDisposableStack,
): readonly Route[] {
  const { pricing, bodyBytesMax } = config;
  const now = () => clock.now();
  const secret = openSecret(config.dataDir, randomBytes);
  const tariff = createTariff(pricing, createQuotes(secret, now));
  const taskTariff = createTaskTariff(pricing, createQuotes(secret, now));
  const reportError = (error: unknown) => log.error("a task failed", errorFacts(error));
  const tasks = stack.use(
    createTasks({
      store: taskStore,
      payments,
      clock,
      secret,
      reportError,
      step,
      room: createFairShares(taskBytes(bodyBytesMax)),
      addressRoom: createFairShares(taskBytes(bodyBytesMax)),
      pause,
      workOf: taskWork(chatWork, taskTariff, step),
      statusUrlOf: ({ offer }, taskId) => `${new URL(offer.resource.url).origin}/v1/tasks/${taskId}`,
    }),
  );
  tasks.start();
  void repeatUpkeep((signal) => tasks.prune(signal), { everyMs: PRUNE_INTERVAL_MS, reportError }, stack)();
  const prices = { chat: pricing.kind === "flat" ? FLAT_PRICE : COST_PLUS_PRICE, task: FLAT_PRICE };
  return [
    ...chatRoutes({
      routing,
      paid,
      tariff,
      taskTariff,
      prices,
      chatWork,
      tasks,
      payments,
      clock,
      originOf,
      bodyBytesMax,
      bodies,
      step,
    }),
    ...taskRoutes({ routing, tasks }),
  ];
}

/**
 * Bytes of the calls of tasks that have not ended, as much as bodies of other calls take: 64 MB or 8 of the largest, one
 * payer or client address alone half of it; each further one has room for one of the largest with its address.
 */
function taskBytes(bodyBytesMax: number) {
  const capacity = Math.max(8 * bodyBytesMax, 67_108_864);
  return { capacity, ratio: 1, guaranteed: bodyBytesMax + 8_192 };
}
