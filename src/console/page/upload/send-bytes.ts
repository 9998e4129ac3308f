import { envelopeOf, Refusal, Unreachable } from "../wire/refusal.ts";
import type { Sending } from "./sending.ts";

/**
 * Puts a body to a path with its progress, which fetch cannot report. Throws Refusal, Unreachable, or the signal's
 * reason.
 */
export function sendBytes({ path, headers, body, onSent, signal }: Sending): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    signal.addEventListener("abort", stop, { once: true });
    request.open("PUT", path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded }) => onSent(loaded));
    request.addEventListener("abort", () => reject(signal.reason));
    request.addEventListener("error", () => reject(new Unreachable("The server does not answer.")));
    request.addEventListener("load", () => {
      const { status, responseText } = request;
      if (status >= 200 && status < 300) return resolve();
      const { code, message } = envelopeOf(responseText) ?? {
        code: "unreadable_reply",
        message: `The server answered ${status}.`,
      };
      reject(new Refusal(message, { status, code, requestId: request.getResponseHeader("x-request-id") }));
    });
    request.addEventListener("loadend", () => signal.removeEventListener("abort", stop));
    request.send(body);
  });
}
