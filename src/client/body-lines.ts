/** Returns the lines of a body as they arrive; empty ones are left out. */
export async function* linesOf(
  reply: Response,
  silenceMaxMs?: number,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of bytesOf(reply, silenceMaxMs)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield line;
  }
  if (rest !== "") yield rest;
}

/**
 * Returns the bytes of a body as they arrive: not every browser walks one by itself. Leaving the walk ends the call.
 * Throws where nothing arrives for `silenceMaxMs`.
 */
export async function* bytesOf(
  { body }: Response,
  silenceMaxMs?: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), silenceMaxMs);
      isOver = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isOver) await reader.cancel().catch(() => undefined);
  }
}

function within<Value>(work: Promise<Value>, ms: number | undefined): Promise<Value> {
  if (ms === undefined) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`nothing arrived in ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
