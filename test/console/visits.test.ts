import { expect, test } from "bun:test";
import { createSession } from "../../src/console/page/state/session.ts";
import { createStore } from "../../src/console/page/state/store.ts";
import { type Connection, createApi } from "../../src/console/page/wire/api.ts";
import { tabStorage } from "../support/tab-storage.ts";

/** A tab with one call on its way, which is answered by `answer`. */
function tab() {
  const storage = tabStorage();
  const session = createSession(storage);
  session.enter("asy_one");
  const reply = Promise.withResolvers<Response>();
  const api = createApi({
    fetch: () => reply.promise,
    key: session.key,
    onKeyRefused: session.leaveRefused,
    connection: createStore<Connection>("up"),
  });
  return { storage, session, api, answer: (body: object) => reply.resolve(Response.json(body)) };
}

test("a key that is exchanged is entered only where the former one is still held", () => {
  const { storage, session } = tab();
  session.exchange("asy_one", "asy_two");
  expect([session.key.get(), storage.getItem("assay-key")]).toEqual(["asy_two", "asy_two"]);
  session.exchange("asy_one", "asy_three");
  expect(session.key.get()).toBe("asy_two");
  session.leave();
  session.exchange("asy_two", "asy_three");
  expect([session.key.get(), storage.getItem("assay-key")]).toEqual([null, null]);
});

test.each([
  ["a reading", (api: ReturnType<typeof createApi>) => api.read<object>("/v1/account")],
  [
    "a change",
    (api: ReturnType<typeof createApi>) => api.send<object>("POST", "/v1/account/keys/key_1/rotate", {}),
  ],
  ["a removal", (api: ReturnType<typeof createApi>) => api.remove("/v1/account/keys/key_1")],
])("the reply to %s that comes behind a sign-out reaches nobody, nor the next visitor", async (_, call) => {
  const { session, api, answer } = tab();
  const called = call(api);
  session.leave();
  session.enter("asy_next");
  answer({ api_key: "asy_late" });
  await expect(called).rejects.toMatchObject({ code: "signed_out" });
  expect(session.key.get()).toBe("asy_next");
});

test("the reply to a call whose visitor has exchanged the key meanwhile is theirs", async () => {
  const { session, api, answer } = tab();
  const called = api.read<object>("/v1/account");
  session.exchange("asy_one", "asy_two");
  answer({ plan: "free" });
  expect(await called).toEqual({ plan: "free" });
});

test("a page whose key the tab no longer keeps knows it", () => {
  const { storage, session } = tab();
  expect(session.isKept()).toBeTrue();
  storage.setItem("assay-key", "asy_next");
  expect(session.isKept()).toBeFalse();
  storage.clear();
  expect(session.isKept()).toBeFalse();
  session.leave();
  expect(session.isKept()).toBeTrue();
});

test.each(["PATCH", "PUT"] as const)(
  "the reply to a %s that breaks off is said to have broken off",
  async (method) => {
    const api = createApi({
      fetch: async () =>
        new Response(new ReadableStream({ pull: (stream) => stream.error(new TypeError("network error")) })),
      key: createStore<string | null>("asy_one"),
      onKeyRefused() {},
      connection: createStore<Connection>("up"),
    });
    await expect(api.send(method, "/v1/account", {})).rejects.toThrow("The server's reply broke off.");
  },
);
