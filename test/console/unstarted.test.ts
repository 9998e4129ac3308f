import { expect, test } from "bun:test";
import { createSession } from "../../src/console/page/state/session.ts";
import { createStore } from "../../src/console/page/state/store.ts";
import { createUploads } from "../../src/console/page/upload/uploads.ts";
import { type Connection, createApi } from "../../src/console/page/wire/api.ts";
import type { Account, Plans } from "../../src/console/page/wire/bodies.ts";
import { startFileServer } from "../support/server.ts";
import { tabStorage } from "../support/tab-storage.ts";

const server = await startFileServer();
/** Rows of two units each: more than the free plan includes. */
const ROWS = 600;

/** A tab of an account of the free plan, and a list that this plan does not pay for. */
async function freeTab() {
  const storage = tabStorage();
  const session = createSession(storage);
  session.enter(await server.signUp("free"));
  const api = createApi({
    fetch: (path, init) => fetch(server.url + path, init),
    key: session.key,
    onKeyRefused: session.leaveRefused,
    connection: createStore<Connection>("up"),
  });
  const open = () =>
    createUploads({
      api,
      storage,
      async send({ path, headers, body }) {
        await fetch(server.url + path, { method: "PUT", headers, body });
      },
    });
  const rows = Array.from({ length: ROWS }, (_, at) => `ann${at}@good.com`).join("\n");
  const file = new File([rows], "spring.txt", { type: "text/plain" });
  const query = new URLSearchParams({ kind: "email", deep: "true" });
  return { api, storage, open, list: { file, contentType: "text/plain", query } };
}

test("what was sent of a list that there are no units for stays, and is started once there are", async () => {
  const { api, storage, open, list } = await freeTab();
  const { plans } = await api.read<Plans>("/v1/plans");
  expect(plans[0]?.included_units).toBeLessThan(2 * ROWS);
  const uploads = open();
  await uploads.begin(list);
  expect(uploads.state.get()).toMatchObject({ status: "unstarted", kept: { name: "spring.txt" } });
  await uploads.start();
  expect(uploads.state.get()).toMatchObject({
    status: "unstarted",
    message: expect.stringContaining("units"),
  });
  // The page is loaded anew.
  const after = open();
  expect(after.state.get()).toMatchObject({ status: "unstarted", message: null });
  await api.send<Account>("POST", "/v1/account/plan", { plan: "growth" });
  await after.start();
  expect(after.state.get()).toEqual({ status: "started", jobId: expect.stringMatching(/^job_/) });
  expect(storage.getItem("assay-upload")).toBeNull();
});

test("what was sent of a list that there are no units for can be discarded", async () => {
  const { api, open, list } = await freeTab();
  const uploads = open();
  await uploads.begin(list);
  await uploads.discard();
  expect(uploads.state.get()).toEqual({ status: "idle" });
  expect(await api.read<object>("/v1/jobs")).toMatchObject({ data: [] });
});
