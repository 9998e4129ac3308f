import { expect, test } from "bun:test";
import { createSession } from "../../src/console/page/state/session.ts";
import { createStore } from "../../src/console/page/state/store.ts";
import type { Sending } from "../../src/console/page/upload/sending.ts";
import { createUploads } from "../../src/console/page/upload/uploads.ts";
import { type Connection, createApi } from "../../src/console/page/wire/api.ts";
import { Refusal } from "../../src/console/page/wire/refusal.ts";
import { tabStorage } from "../support/tab-storage.ts";

type Network = (call: string, authorization: string | null) => Response | Promise<Response>;

/** The uploads of a tab; parts are answered by `send`, and nothing is waited for. */
function tab(
  network: Network,
  send: (sending: Sending) => Promise<void> = async () => {},
  wait: () => Promise<void> = async () => {},
) {
  const storage = tabStorage();
  const session = createSession(storage);
  session.enter("asy_one");
  const calls: string[] = [];
  const api = createApi({
    async fetch(path, { method = "GET", headers }) {
      const authorization = new Headers(headers).get("Authorization");
      const call = `${method} ${path.split("?")[0]}`;
      calls.push(`${call} ${authorization}`);
      return network(call, authorization);
    },
    key: session.key,
    onKeyRefused: session.leaveRefused,
    connection: createStore<Connection>("up"),
  });
  const uploads = createUploads({ api, storage, send, wait });
  session.key.subscribe(() => {
    if (session.key.get() === null) uploads.forget();
  });
  const file = new File(["ann@good.com\n"], "spring.txt");
  const begin = () => uploads.begin({ file, contentType: "text/plain", query: new URLSearchParams() });
  return { storage, session, uploads, calls, begin, file };
}

const created = () => Response.json({ job_id: "job_1" }, { status: 201 });
const started = () => Response.json({ job_id: "job_1" }, { status: 202 });

/** A network whose job is created once `answer` is called. */
function slowCreation() {
  const answer = Promise.withResolvers<Response>();
  const network: Network = (call) =>
    call === "POST /v1/jobs" ? answer.promise : new Response(null, { status: 204 });
  return { network, answer: () => answer.resolve(created()) };
}

test("an upload that is discarded while its job is created is deleted, and does not come back", async () => {
  const { network, answer } = slowCreation();
  const { uploads, calls, begin, storage } = tab(network);
  const begun = begin();
  await uploads.discard();
  answer();
  await begun;
  expect(uploads.state.get()).toEqual({ status: "idle" });
  expect(storage.getItem("assay-upload")).toBeNull();
  expect(calls).toEqual(["POST /v1/jobs Bearer asy_one", "DELETE /v1/jobs/job_1 Bearer asy_one"]);
});

test("an upload whose visitor signs out while its job is created leaves nothing for the next one", async () => {
  const { network, answer } = slowCreation();
  const { session, uploads, calls, begin, storage } = tab(network);
  const begun = begin();
  session.leave();
  session.enter("asy_next");
  answer();
  await begun;
  expect(uploads.state.get()).toEqual({ status: "idle" });
  expect(storage.getItem("assay-upload")).toBeNull();
  expect(calls.at(-1)).toBe("DELETE /v1/jobs/job_1 Bearer asy_one");
});

test("an upload that is discarded while its start waits for the server is not started behind that", async () => {
  const gone = () => new Response("<h1>No server</h1>", { status: 502 });
  const network: Network = (call) => {
    if (call.startsWith("DELETE")) return new Response(null, { status: 204 });
    return call === "POST /v1/jobs" ? created() : gone();
  };
  const { uploads, calls, begin } = tab(
    network,
    async () => {},
    async () => uploads.discard(),
  );
  await begin();
  expect(uploads.state.get()).toEqual({ status: "idle" });
  expect(calls.slice(1)).toEqual([
    "POST /v1/jobs/job_1/start Bearer asy_one",
    "DELETE /v1/jobs/job_1 Bearer asy_one",
  ]);
});

/** An upload whose first part is on its way until it is stopped, and whose job is deleted with these replies. */
async function sendingTab(replies: readonly (Response | Promise<Response>)[]) {
  const left = [...replies];
  const reached = Promise.withResolvers<void>();
  const opened = tab(
    (call) => (call.startsWith("DELETE") ? (left.shift() ?? created()) : created()),
    ({ signal }) =>
      new Promise((_, reject) => {
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
        reached.resolve();
      }),
  );
  const begun = opened.begin();
  await reached.promise;
  return { ...opened, begun };
}

const refused = (status: number, code: string, message: string) =>
  Response.json({ error: { code, message } }, { status });

test("an upload that the server does not erase is kept with the reason, and gone once it does", async () => {
  const { uploads, storage, begun } = await sendingTab([
    refused(429, "rate_limited", "Too many calls."),
    new Response(null, { status: 204 }),
  ]);
  await expect(uploads.discard()).rejects.toThrow("Too many calls.");
  await begun;
  expect(uploads.state.get()).toMatchObject({ status: "interrupted", kept: { jobId: "job_1" } });
  expect(storage.getItem("assay-upload")).not.toBeNull();
  await uploads.discard();
  expect(uploads.state.get()).toEqual({ status: "idle" });
  expect(storage.getItem("assay-upload")).toBeNull();
});

test("an upload of which the server has nothing is discarded", async () => {
  const { uploads, storage } = await sendingTab([refused(404, "not_found", "There is none.")]);
  await uploads.discard();
  expect(uploads.state.get()).toEqual({ status: "idle" });
  expect(storage.getItem("assay-upload")).toBeNull();
});

test("an upload whose file is chosen again while it is discarded is gone all the same", async () => {
  const answer = Promise.withResolvers<Response>();
  const { uploads, storage, file } = await sendingTab([answer.promise]);
  const discarded = uploads.discard();
  const resumed = uploads.resume(file);
  answer.resolve(new Response(null, { status: 204 }));
  await Promise.all([discarded, resumed]);
  expect(uploads.state.get()).toEqual({ status: "idle" });
  expect(storage.getItem("assay-upload")).toBeNull();
});

test.each([204, 503])(
  "an upload whose visitor signs out while it is discarded leaves that of the next one alone (%i)",
  async (status) => {
    const answer = Promise.withResolvers<Response>();
    const { uploads, session, storage } = await sendingTab([answer.promise]);
    const discarded = uploads.discard().catch(() => undefined);
    session.leave();
    session.enter("asy_next");
    storage.setItem("assay-upload", JSON.stringify({ jobId: "job_next", parts: [] }));
    answer.resolve(status === 204 ? new Response(null, { status }) : refused(status, "overloaded", "no"));
    await discarded;
    expect(uploads.state.get()).toEqual({ status: "idle" });
    expect(storage.getItem("assay-upload")).toContain("job_next");
  },
);

test("a part that arrives in the moment in which its visitor signs out is not kept", async () => {
  const { session, storage, begin, calls } = tab(created, async () => session.leave());
  await begin();
  expect(storage.length).toBe(0);
  expect(calls).toEqual(["POST /v1/jobs Bearer asy_one"]);
});

test("a part that is refused the key that was exchanged meanwhile is sent with the new one", async () => {
  const sentWith: unknown[] = [];
  const network: Network = (call) => (call === "POST /v1/jobs" ? created() : started());
  const { session, uploads, calls, begin } = tab(network, async ({ headers }) => {
    sentWith.push(headers.Authorization);
    session.enter("asy_two");
    if (sentWith.length === 1) throw new Refusal("no", { status: 401, code: "bad_key", requestId: null });
  });
  await begin();
  expect(sentWith).toEqual(["Bearer asy_one", "Bearer asy_two"]);
  expect(uploads.state.get()).toEqual({ status: "started", jobId: "job_1" });
  expect(calls.at(-1)).toBe("POST /v1/jobs/job_1/start Bearer asy_two");
});

test.each([
  [500, "internal_error"],
  [503, "overloaded"],
  [408, "unreadable_reply"],
  [522, "unreadable_reply"],
  [403, "unreadable_reply"],
  [409, "idempotency_in_progress"],
])("an upload is not erased by one %i %s: its part is sent again", async (status, code) => {
  let sendings = 0;
  const network: Network = (call) => (call === "POST /v1/jobs" ? created() : started());
  const { uploads, calls, begin } = tab(network, async () => {
    sendings += 1;
    if (sendings === 1) throw new Refusal("no", { status, code, requestId: null });
  });
  await begin();
  expect(uploads.state.get()).toEqual({ status: "started", jobId: "job_1" });
  expect([sendings, calls.filter((call) => call.startsWith("DELETE"))]).toEqual([2, []]);
});

test.each([
  [413, "unreadable_reply"],
  [400, "invalid_request"],
])("an upload of which a part is refused for good (%i %s) is erased", async (status, code) => {
  const network: Network = (call) =>
    call === "POST /v1/jobs" ? created() : new Response(null, { status: 204 });
  const { uploads, calls, begin } = tab(network, async () => {
    throw new Refusal("It is refused.", { status, code, requestId: null });
  });
  await begin();
  expect(uploads.state.get()).toEqual({ status: "failed", message: "It is refused." });
  expect(calls.at(-1)).toBe("DELETE /v1/jobs/job_1 Bearer asy_one");
});
