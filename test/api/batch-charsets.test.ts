import { describe, expect, test } from "bun:test";
import { refusalBodyOf } from "../support/json.ts";
import { startFileServer } from "../support/server.ts";

const server = await startFileServer();

const send = (path: string, key: string, body: Uint8Array, type: string) =>
  server.call(path, { key, body, headers: { "Content-Type": type } });

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const utf16 = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"));
const swapped = (text: string) => new Uint8Array(Buffer.from(text, "utf16le").swap16());

const SHORT = "jan\u00e9@good.com\nb@good.com\n";
/** Too much for the main thread. */
const LONG = Array.from({ length: 5_000 }, (_, at) => `jan\u00e9${at}@good.com\n`).join("");

describe("lines are read in the charset of their Content-Type, as those of jobs are", () => {
  test.each([
    ["windows-1252", latin1, "; charset=windows-1252"],
    ["ISO-8859-1, in quotes", latin1, '; a=b; Charset="ISO-8859-1"'],
    ["UTF-16", (text: string) => utf16(`\ufeff${text}`), "; charset=utf-16"],
    ["UTF-16, big-endian by its mark", (text: string) => swapped(`\ufeff${text}`), "; charset=utf-16"],
    ["UTF-16 by its mark", (text: string) => utf16(`\ufeff${text}`), ""],
  ] as const)("%s", async (_, encode, charset) => {
    const key = await server.signUp();
    const quoted = SHORT.replaceAll(/.+/g, '"$&"');
    for (const [text, type] of [
      [SHORT, "text/plain"],
      [LONG, "text/plain"],
      [quoted, "application/x-ndjson"],
    ] as const) {
      const plain = await send("/v1/email/batch", key, new TextEncoder().encode(text), type);
      const encoded = await send("/v1/email/batch", key, encode(text), `${type}${charset}`);
      expect([encoded.status, await encoded.text()]).toEqual([200, await plain.text()]);
    }
  });

  test("those of telephone numbers and of documents, too", async () => {
    const key = await server.signUp();
    for (const [path, text] of [
      ["/v1/phone/batch?country=DE", "030\u00a0123456\n"],
      ["/v1/identity/batch", "529.982.247\u00b725\n"],
    ] as const) {
      const plain = await send(path, key, new TextEncoder().encode(text), "text/plain");
      const encoded = await send(path, key, latin1(text), "text/plain; charset=iso-8859-1");
      expect([encoded.status, await encoded.text()]).toEqual([200, await plain.text()]);
    }
  });
});

describe("400, at no cost", () => {
  test.each([
    ["an unknown charset", SHORT, "text/plain; charset=utf-99", "The charset of Content-Type is no known"],
    ["text in another charset than is named", "a\u00ffb", "text/plain; charset=utf-16", "must be utf-16"],
    ["text that is not UTF-8, where none is named", SHORT, "text/plain", "The body must be UTF-8."],
    ["JSON, which has none", `{"emails":["\u00e9"]}`, "application/json; charset=latin1", "must be UTF-8."],
  ])("%s", async (_, text, type, message) => {
    const reply = await send("/v1/email/batch", await server.signUp(), latin1(text), type);
    expect([reply.status, reply.headers.get("x-units-charged")]).toEqual([400, "0"]);
    expect((await refusalBodyOf(reply)).error.message).toContain(message);
  });
});
