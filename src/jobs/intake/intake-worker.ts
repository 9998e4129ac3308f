import type { FairTurns } from "../../platform/fair-turns.ts";
import { StorageError } from "../../store/storage-error.ts";
import { createComparingPlaces } from "./comparing-places.ts";
import { readInput } from "./intake.ts";
import type { IntakeReply, IntakeRequest } from "./intake-messages.ts";

/** The side of the intake that runs in its thread: reads several inputs side by side. */
export type IntakeWorker = { readonly receive: (request: IntakeRequest) => void };

type Bytes = Uint8Array<ArrayBuffer>;

/** An input that is being read. */
type Reading = {
  readonly piece: (piece: Bytes | null) => void;
  readonly chunkBody: (body: Bytes) => void;
  readonly abort: () => void;
};

/** Pieces are gathered up to this before they are read, so that tiny ones cost no more than large ones. */
const GATHERED_BYTES_MIN = 65_536;

class AbortedError extends Error {
  override readonly name = "AbortedError";
}

/**
 * Tenants take turns, and so do the inputs of each; an input waits for one turn at a time. `release` is called when no
 * input is left: what the last ones held is wanted back.
 */
export function createIntakeWorker(
  turns: FairTurns,
  send: (reply: IntakeReply, transfer: readonly ArrayBuffer[]) => void,
  release: () => void,
): IntakeWorker {
  const readings = new Map<number, Reading>();
  const places = createComparingPlaces();

  function begin(request: Extract<IntakeRequest, { begin: unknown }>): void {
    const { input } = request;
    const { tenant } = request.begin;
    const gone = new AbortController();
    const turn = async () => {
      await turns.turnOf(tenant);
      gone.signal.throwIfAborted();
    };
    const pieces = createMailbox<Bytes | null>();
    const bodies = createMailbox<Bytes>();
    readings.set(input, {
      piece: pieces.put,
      chunkBody: bodies.put,
      abort: () => {
        const error = new AbortedError("the input was given up");
        pieces.fail(error);
        bodies.fail(error);
        gone.abort(error);
      },
    });

    async function* gathered(): AsyncGenerator<Uint8Array, void, undefined> {
      let waiting: Uint8Array[] = [];
      let bytes = 0;
      for (;;) {
        send({ input, wants: true }, []);
        const piece = await pieces.take();
        if (piece !== null) {
          waiting.push(piece);
          bytes += piece.byteLength;
        }
        if (bytes < GATHERED_BYTES_MIN && piece !== null) continue;
        const [only] = waiting;
        await turn();
        if (bytes > 0) yield waiting.length === 1 && only !== undefined ? only : Buffer.concat(waiting);
        if (piece === null) return;
        waiting = [];
        bytes = 0;
      }
    }

    void readInput(request.begin, {
      pieces: gathered(),
      async store(chunks) {
        send(
          { input, chunks },
          chunks.map(({ body }) => body.buffer),
        );
      },
      async chunkBody(n) {
        send({ input, wantsChunk: n }, []);
        const body = await bodies.take();
        await turn();
        return body;
      },
      turn,
      place: () => places.acquire(tenant, gone.signal),
    })
      .then(
        (outcome) => send({ input, outcome }, []),
        (error: unknown) => {
          if (error instanceof AbortedError) return;
          // The thread makes system calls for the file of rows alone.
          const isStorage = error instanceof StorageError || (error instanceof Error && "syscall" in error);
          send({ input, failed: isStorage ? error.message : Bun.inspect(error), isStorage }, []);
        },
      )
      .finally(() => {
        readings.delete(input);
        if (readings.size === 0) release();
      });
  }

  return {
    receive(request) {
      if ("begin" in request) return begin(request);
      const reading = readings.get(request.input);
      if ("piece" in request) reading?.piece(request.piece);
      else if ("chunkBody" in request) reading?.chunkBody(request.chunkBody);
      else reading?.abort();
    },
  };
}

/** Values that come by messages, taken one at a time. The sender waits to be asked, so it holds few. */
function createMailbox<Value>() {
  const values: Value[] = [];
  let waiting: PromiseWithResolvers<Value> | null = null;
  let failure: Error | null = null;
  return {
    put(value: Value): void {
      if (waiting === null) values.push(value);
      else waiting.resolve(value);
      waiting = null;
    },
    fail(error: Error): void {
      failure = error;
      waiting?.reject(error);
    },
    async take(): Promise<Value> {
      if (failure !== null) throw failure;
      const [value] = values;
      if (values.length > 0) {
        values.shift();
        return value as Value;
      }
      waiting = Promise.withResolvers<Value>();
      return waiting.promise;
    },
  };
}
