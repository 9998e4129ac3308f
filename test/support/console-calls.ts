import type { HTTPRequest, ResponseForRequest } from "puppeteer-core";
import type { ConsolePage } from "./console-page.ts";

type Answer = Partial<ResponseForRequest>;

/** Returns the reply to a call such as `GET /v1/jobs`; undefined leaves it to the server, null without any. */
export type CallAnswers = (call: string, request: HTTPRequest) => Answer | Promise<Answer> | null | undefined;

/** Answers calls of the page in the server's place. */
export async function answerCalls({ page }: ConsolePage, answers: CallAnswers): Promise<void> {
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    const answer = answers(`${request.method()} ${pathname}`, request);
    if (answer === undefined) return void request.continue();
    if (answer === null) return;
    // A call that the page has given up meanwhile takes no reply.
    void Promise.resolve(answer)
      .then((reply) => request.respond(reply))
      .catch(() => undefined);
  });
}

export function jsonReply(body: unknown, status = 200): Answer {
  return { status, contentType: "application/json", body: JSON.stringify(body) };
}
