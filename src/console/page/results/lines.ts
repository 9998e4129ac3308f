/** Returns the lines of a reply as they come; the last one needs no line end. */
export async function* linesOf(reply: Response): AsyncGenerator<readonly string[], void, undefined> {
  if (reply.body === null) return;
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      yield lines;
    }
    if (rest !== "") yield [rest];
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
