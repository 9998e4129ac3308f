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
  let refused = "";
  const api = createApi({
    async fetch(path, init) {
      if (init.method !== refused) return fetch(server.url + path, init);
      return Response.json({ error: { code: "rate_limited", message: "Too many calls." } }, { status: 429 });
    },
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
  const refuse = (method: string) => {
    refused = method;
  };
  return { api, storage, open, refuse, list: { file, contentType: "text/plain", query } };
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
  expect(after.state.get()).toMatchObject({ status: "unknown" });
  await after.ask();
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

/** A list that is sent and not started, and the same page loaded anew behind its start, whose reply was lost. */
async function startedTab() {
  const tab = await freeTab();
  await tab.open().begin(tab.list);
  const kept = String(tab.storage.getItem("assay-upload"));
  await tab.api.send<Account>("POST", "/v1/account/plan", { plan: "growth" });
  const before = tab.open();
  await before.ask();
  const { jobId } = JSON.parse(kept);
  await tab.api.send<object>("POST", `/v1/jobs/${jobId}/start`);
  return { ...tab, before, jobId };
}

test("a list that was started before the page was loaded anew is shown, and is no upload any more", async () => {
  const { storage, open, jobId } = await startedTab();
  const uploads = open();
  expect(uploads.state.get()).toMatchObject({ status: "unknown" });
  await uploads.ask();
  expect(uploads.state.get()).toEqual({ status: "started", jobId });
  expect(storage.getItem("assay-upload")).toBeNull();
});

test("a list that was started elsewhere is shown, and not erased, where what was sent is discarded", async () => {
  const { api, before, jobId } = await startedTab();
  await before.discard();
  expect(before.state.get()).toEqual({ status: "started", jobId });
  expect(await api.read<object>(`/v1/jobs/${jobId}`)).toMatchObject({ job_id: jobId });
});

test("a list that is sent, and that the server does not erase, says why", async () => {
  const { refuse, open, list } = await freeTab();
  const uploads = open();
  await uploads.begin(list);
  refuse("DELETE");
  await uploads.discard().catch(() => undefined);
  expect(uploads.state.get()).toMatchObject({ status: "unstarted", message: "Too many calls." });
});
