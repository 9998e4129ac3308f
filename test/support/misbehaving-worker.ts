import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type MessagePort, threadId } from "node:worker_threads";
import { createChunkVerifier } from "../../src/batch/chunk-verifier.ts";
import type { ChunkingTask, VerifyTask } from "../../src/batch/messages.ts";
import type { Emitting } from "../../src/batch/thread-tasks.ts";
import type { OpenTask } from "../../src/jobs/chunks/chunk-work.ts";
import { createDomainNumberings } from "../../src/jobs/chunks/domain-numberings.ts";
import { itemsOf } from "../../src/jobs/intake/chunk-rows.ts";
import {
  createGiveUpTask,
  createOpenTask,
  createPackTask,
  createRenderTask,
} from "../../src/jobs/thread-tasks.ts";
import { createAddressParser } from "../../src/verification/email/address.ts";
import { chunkBody as chunkWell, verifyChunk as verifyWell } from "../../workers/batch.ts";

// The workers of batches and of jobs, except that a chunk or a body which names one of these words ends badly.

export const ping = () => "pong";
export const giveUpJobRows = createGiveUpTask(createChunkVerifier().failed);
export const packJobResults = createPackTask();
export const renderJobResults = createRenderTask();
const openWell = createOpenTask(createDomainNumberings(createAddressParser(), threadId));

const WAYS: { readonly [word: string]: () => void } = {
  "worker-throws": () => {
    throw new Error("This worker throws for the test");
  },
  "worker-exits": () => process.exit(3),
  "worker-loops": () => {
    for (;;);
  },
};

export function verifyChunk(task: VerifyTask) {
  misbehave(task.items);
  return verifyWell(task);
}

export function chunkBody(task: Emitting<ChunkingTask>) {
  const text = new TextDecoder().decode(task.body);
  if (text.includes("split-")) misbehave(text);
  if (text.includes("late-") && task.port !== null) {
    return chunkWell({ ...task, port: misbehavingPort(task.port, text) });
  }
  return chunkWell(task);
}

export function openJobChunk(task: OpenTask) {
  const taken = itemsOf(task, task).slice(task.fromRow, task.fromRow + task.rowsMax);
  const text = JSON.stringify(taken);
  if (text.includes("open-")) misbehave(text);
  return openWell(task);
}

/** Misbehaves when the head and the first chunks are emitted. */
function misbehavingPort(port: MessagePort, text: string): MessagePort {
  let emitted = 0;
  const postMessage = (event: unknown) => {
    if (emitted === 2) misbehave(text);
    emitted += 1;
    port.postMessage(event);
  };
  return { postMessage, close: () => port.close() } as MessagePort;
}

/** `<word>` every time; `<word>-once-<id>` only the first time that any thread sees it. */
function misbehave(text: string): void {
  for (const [, word = "", once] of text.matchAll(/(worker-[a-z]+)(-once-\w+)?/g)) {
    if (once !== undefined && !isFirst(word + once)) continue;
    WAYS[word]?.();
  }
}

function isFirst(mark: string): boolean {
  const path = join(process.env.TEST_MARKS_FOLDER ?? "", mark);
  if (existsSync(path)) return false;
  writeFileSync(path, "");
  return true;
}
