import { StorageError } from "../../store/storage-error.ts";
import type { IntakeChunk } from "./chunk-builder.ts";
import type { IntakeOptions, IntakeOutcome, IntakeReply, IntakeRequest } from "./intake-messages.ts";

/** Reads the inputs of jobs in a thread of their own, which starts with the first. */
export type Intake = AsyncDisposable & {
  /**
   * Reads an input to its end. Rejects where the source or the store fails, or the signal aborts, and with a StorageError
   * where the disk takes no rows.
   */
  readonly read: (options: IntakeOptions, host: InputHost) => Promise<IntakeOutcome>;
  /** Inputs that are being read. */
  readonly reading: () => number;
};

export type InputHost = {
  /** The next bytes of the input, of any length; null at its end. */
  readonly next: () => Promise<Uint8Array | null>;
  /** Stores chunks; the next bytes are asked for when it has returned. */
  readonly store: (chunks: readonly IntakeChunk[]) => void | Promise<void>;
  readonly chunkBody: (n: number) => Uint8Array | Promise<Uint8Array>;
  readonly signal: AbortSignal;
};

type Pending = {
  readonly host: InputHost;
  readonly resolve: (outcome: IntakeOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** Resolves once the host has answered all earlier requests: answers go out in order. */
  busy: Promise<void>;
};

/** `workerFile` is an address that `new Worker` takes. */
export function createIntake(workerFile: string): Intake {
  const pending = new Map<number, Pending>();
  let worker: Worker | null = null;
  let lastInput = 0;

  function start(): Worker {
    const started = new Worker(workerFile);
    started.onmessage = ({ data }: MessageEvent<IntakeReply>) => receive(started, data);
    const end = (reason: string) => {
      if (worker === started) worker = null;
      for (const { reject } of pending.values())
        reject(new Error(`the thread that reads inputs ended: ${reason}`));
      pending.clear();
    };
    started.addEventListener("error", ({ message }) => end(message));
    started.addEventListener("close", () => end("it was closed"));
    started.unref();
    return started;
  }

  function receive(from: Worker, reply: IntakeReply): void {
    const { input } = reply;
    const one = pending.get(input);
    if (one === undefined) return;
    if ("outcome" in reply) {
      one.busy.then(
        () => settle(input, () => one.resolve(reply.outcome)),
        () => undefined,
      );
      return;
    }
    if ("failed" in reply) {
      const { failed, isStorage } = reply;
      const error = isStorage ? new StorageError(`the rows of a job: ${failed}`) : new Error(failed);
      settle(input, () => one.reject(error));
      return;
    }
    one.busy = one.busy.then(async () => {
      if ("chunks" in reply) await one.host.store(reply.chunks);
      else if ("wantsChunk" in reply) {
        send(from, { input, chunkBody: owned(await one.host.chunkBody(reply.wantsChunk)) });
      } else {
        const piece = await one.host.next();
        send(from, { input, piece: piece === null ? null : owned(piece) });
      }
    });
    one.busy.catch((error: unknown) => {
      send(from, { input, abort: true });
      settle(input, () => one.reject(error));
    });
  }

  function settle(input: number, act: () => void): void {
    if (pending.delete(input)) act();
  }

  return {
    async read(options, host) {
      host.signal.throwIfAborted();
      worker ??= start();
      const target = worker;
      lastInput += 1;
      const input = lastInput;
      const { promise, resolve, reject } = Promise.withResolvers<IntakeOutcome>();
      pending.set(input, { host, resolve, reject, busy: Promise.resolve() });
      const abort = () => {
        send(target, { input, abort: true });
        settle(input, () => reject(host.signal.reason));
      };
      host.signal.addEventListener("abort", abort, { once: true });
      send(target, { input, begin: options });
      return promise.finally(() => host.signal.removeEventListener("abort", abort));
    },
    reading: () => pending.size,
    async [Symbol.asyncDispose]() {
      worker?.terminate();
      worker = null;
    },
  };
}

function send(worker: Worker, request: IntakeRequest): void {
  const bytes = "piece" in request ? request.piece : "chunkBody" in request ? request.chunkBody : null;
  worker.postMessage(request, bytes === null ? [] : [bytes.buffer]);
}

/** Bytes in a buffer of their own, which can be transferred. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
