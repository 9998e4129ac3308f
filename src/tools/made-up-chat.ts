import type { Server } from "bun";

/** What a made-up upstream does with a call. */
export type MadeUpAnswer = {
  /** What the answer is made of; each piece is one event of a stream. */
  readonly pieces?: readonly string[];
  /** Instead of text. */
  readonly toolCall?: { readonly name: string; readonly arguments: string };
  /** Before the first piece. */
  readonly delayMs?: number;
  /** Between two pieces. */
  readonly pauseMs?: number;
  readonly status?: number;
  readonly error?: object;
  /** The stream ends behind this many pieces: breaks off, hangs, or writes an error. */
  readonly breakAfter?: number;
  readonly breakBy?: "close" | "hang" | "error" | "half a chunk";
};

export type MadeUpChat = Disposable & {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly calls: readonly { readonly body: string; readonly authorization: string | null }[];
  /** Calls whose caller left before the end. */
  readonly aborted: () => number;
  readonly setAnswer: (answer: MadeUpAnswer | ((call: number) => MadeUpAnswer)) => void;
};

const MODEL = "made-up-1";

/** Starts a server that completes chats in OpenAI's way, with made-up answers: for tests and the demonstration. */
export function startMadeUpChat(): MadeUpChat {
  const calls: { body: string; authorization: string | null }[] = [];
  let aborted = 0;
  let answerOf: (call: number) => MadeUpAnswer = () => ({});
  const server: Server<undefined> = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/v1/models") {
        const model = { id: MODEL, object: "model", created: 1, owned_by: "made-up" };
        return Response.json({ object: "list", data: [model] });
      }
      const body = await request.text();
      calls.push({ body, authorization: request.headers.get("authorization") });
      request.signal.addEventListener("abort", () => {
        aborted += 1;
      });
      const answer = answerOf(calls.length);
      if (answer.delayMs !== undefined) await Bun.sleep(answer.delayMs);
      if (answer.status !== undefined) {
        const error = answer.error ?? { message: "made-up failure", type: "server_error" };
        return Response.json({ error }, { status: answer.status });
      }
      const chat = JSON.parse(body) as ChatBody;
      return chat.stream === true ? streamed(answer, chat) : Response.json(whole(answer, chat));
    },
  });
  return {
    url: `${server.url.origin}/v1`,
    calls,
    aborted: () => aborted,
    setAnswer: (answer) => {
      answerOf = typeof answer === "function" ? answer : () => answer;
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}

type ChatBody = {
  readonly stream?: boolean;
  readonly model: string;
  readonly n?: number;
  readonly stream_options?: { readonly include_usage?: boolean };
};

const PIECES = ["Hello", ", ", "reader", "."];
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

function whole({ pieces = PIECES, toolCall }: MadeUpAnswer, { n = 1 }: ChatBody) {
  const call = toolCall && [{ id: "call_1", type: "function", function: toolCall }];
  const message = call
    ? { role: "assistant", content: null, tool_calls: call }
    : { role: "assistant", content: pieces.join("") };
  const choices = Array.from({ length: n }, (_, index) => ({
    index,
    message,
    finish_reason: call ? "tool_calls" : "stop",
  }));
  return { id: "chatcmpl-1", object: "chat.completion", created: 1, model: MODEL, choices, usage: USAGE };
}

function streamed(answer: MadeUpAnswer, { n = 1, stream_options: options }: ChatBody): Response {
  const { pauseMs = 0, breakAfter, breakBy = "close" } = answer;
  const encoder = new TextEncoder();
  const events = deltasOf(answer).flatMap((delta) =>
    Array.from({ length: n }, (_, index) => chunk([{ index, delta, finish_reason: null }])),
  );
  const end = Array.from({ length: n }, (_, index) =>
    chunk([{ index, delta: {}, finish_reason: answer.toolCall ? "tool_calls" : "stop" }]),
  );
  const usage = options?.include_usage === true ? [chunk([], USAGE)] : [];
  const texts = [...events, ...end, ...usage].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at > 0 && pauseMs > 0) await Bun.sleep(pauseMs);
      if (at === breakAfter) {
        if (breakBy === "hang") return new Promise<void>(() => undefined);
        if (breakBy === "error") {
          controller.enqueue(encoder.encode('data: {"error":{"message":"made-up failure"}}\n\n'));
        }
        if (breakBy === "half a chunk") controller.enqueue(encoder.encode('data: {"choices":[{"ind'));
        controller.close();
        return;
      }
      const text = texts[at] ?? "data: [DONE]\n\n";
      at += 1;
      controller.enqueue(encoder.encode(text));
      if (at > texts.length) controller.close();
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

function deltasOf({ pieces = PIECES, toolCall }: MadeUpAnswer): readonly object[] {
  const role = { role: "assistant", content: toolCall ? null : "" };
  if (toolCall === undefined) return [role, ...pieces.map((content) => ({ content }))];
  const { name, arguments: text } = toolCall;
  const half = Math.ceil(text.length / 2);
  const call = (fields: object) => ({ tool_calls: [{ index: 0, ...fields }] });
  return [
    role,
    call({ id: "call_1", type: "function", function: { name, arguments: "" } }),
    call({ function: { arguments: text.slice(0, half) } }),
    call({ function: { arguments: text.slice(half) } }),
  ];
}

function chunk(choices: readonly object[], usage: object | null = null) {
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: MODEL, choices, usage };
}
