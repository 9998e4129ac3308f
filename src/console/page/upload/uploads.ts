import { pause } from "../../../platform/pause.ts";
import { createStore, type Store } from "../state/store.ts";
import { type Api, messageOf } from "../wire/api.ts";
import type { Job } from "../wire/bodies.ts";
import { mayPass, Refusal } from "../wire/refusal.ts";
import { isSameFile, type KeptUpload, partBytesOf, partCountOf, readKept, writeKept } from "./kept-upload.ts";
import { sendBytes } from "./send-bytes.ts";

export type UploadState =
  | { readonly status: "idle" }
  | {
      readonly status: "sending";
      readonly name: string;
      readonly sent: number;
      readonly size: number;
      /** The server does not answer; the upload goes on by itself. */
      readonly isWaiting: boolean;
    }
  /** The page was loaded anew: the file is to be chosen once more. */
  | { readonly status: "interrupted"; readonly kept: KeptUpload }
  | { readonly status: "failed"; readonly message: string }
  | { readonly status: "started"; readonly jobId: string };

export type List = {
  readonly file: File;
  readonly contentType: string;
  /** The query with the job's options. */
  readonly query: URLSearchParams;
};

/** The one upload of this tab; it continues while other views are shown. */
export type Uploads = {
  readonly state: Store<UploadState>;
  readonly begin: (list: List) => Promise<void>;
  /** Resumes with the same file. */
  readonly resume: (file: File) => Promise<void>;
  /** Ends the upload and erases what the server has of it. */
  readonly discard: () => Promise<void>;
  readonly clear: () => void;
  /** Stops at once without calling the server, because the visitor has left. */
  readonly forget: () => void;
};

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 10_000;

export function createUploads({ api, storage }: { readonly api: Api; readonly storage: Storage }): Uploads {
  const kept = readKept(storage);
  const state = createStore<UploadState>(
    kept === null ? { status: "idle" } : { status: "interrupted", kept },
  );
  let stop = new AbortController();

  const show = (file: File, sent: number, isWaiting = false) =>
    state.set({ status: "sending", name: file.name, sent, size: file.size, isWaiting });

  /** Runs an upload and shows its state. */
  const run = async (work: (signal: AbortSignal) => Promise<Job>) => {
    stop = new AbortController();
    const { signal } = stop;
    try {
      const job = await work(signal);
      writeKept(storage, null);
      state.set({ status: "started", jobId: job.job_id });
    } catch (error) {
      if (signal.aborted) return;
      const left = readKept(storage);
      if (left !== null && error instanceof Refusal) {
        writeKept(storage, null);
        await api.remove(`/v1/jobs/${left.jobId}`).catch(() => undefined);
      }
      state.set({ status: "failed", message: messageOf(error) });
    }
  };

  const sendParts = async (file: File, from: KeptUpload, signal: AbortSignal): Promise<Job> => {
    let upload = from;
    const count = partCountOf(upload);
    for (let n = upload.parts.length + 1; n <= count; n++) {
      const start = (n - 1) * upload.partBytes;
      const body = file.slice(start, start + upload.partBytes);
      const digest = await digestOf(body);
      const headers = digest === "" ? {} : { Digest: `sha-256=${digest}` };
      await untilAnswered(signal, (isAgain) => {
        show(file, start, isAgain);
        return sendBytes({
          path: `/v1/jobs/${upload.jobId}/parts/${n}`,
          headers: { ...api.authorization(), "Content-Type": "application/octet-stream", ...headers },
          body,
          onSent: (bytes) => show(file, Math.min(file.size, start + bytes)),
          signal,
        });
      });
      upload = { ...upload, parts: [...upload.parts, digest] };
      writeKept(storage, upload);
    }
    show(file, file.size);
    return untilAnswered(signal, () => api.send<Job>("POST", `/v1/jobs/${upload.jobId}/start`));
  };

  return {
    state,
    begin: ({ file, contentType, query }) =>
      run(async (signal) => {
        show(file, 0);
        const reply = await api.open(`/v1/jobs?upload=parts&${query}`, {
          method: "POST",
          headers: { "Content-Type": contentType },
        });
        const job: Job = await reply.json();
        const upload: KeptUpload = {
          jobId: job.job_id,
          name: file.name,
          size: file.size,
          lastModified: file.lastModified,
          partBytes: partBytesOf(file.size),
          parts: [],
        };
        writeKept(storage, upload);
        return sendParts(file, upload, signal);
      }),
    async resume(file) {
      const upload = readKept(storage);
      if (upload === null) return state.set({ status: "idle" });
      const [first = ""] = upload.parts;
      const isSame =
        isSameFile(upload, file) &&
        (first === "" || (await digestOf(file.slice(0, upload.partBytes))) === first);
      if (!isSame) throw new Refusal(`This is not the file ${upload.name} as it was.`, NOT_THE_FILE);
      await run((signal) => sendParts(file, upload, signal));
    },
    async discard() {
      stop.abort(new DOMException("discarded", "AbortError"));
      const left = readKept(storage);
      writeKept(storage, null);
      state.set({ status: "idle" });
      if (left !== null) await api.remove(`/v1/jobs/${left.jobId}`);
    },
    clear: () => state.set({ status: "idle" }),
    forget() {
      stop.abort(new DOMException("forgotten", "AbortError"));
      state.set({ status: "idle" });
    },
  };
}

const NOT_THE_FILE = { status: 0, code: "other_file", requestId: null };

/** Repeats what may be repeated until the server answers. */
async function untilAnswered<Value>(
  signal: AbortSignal,
  work: (isAgain: boolean) => Promise<Value>,
): Promise<Value> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt > 0);
    } catch (error) {
      if (!mayPass(error) || signal.aborted) throw error;
      await pause(Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** attempt), signal);
    }
  }
}

/** Returns the SHA-256 in base64; empty where the page is not a secure context. */
async function digestOf(part: Blob): Promise<string> {
  if (globalThis.crypto?.subtle === undefined) return "";
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await part.arrayBuffer()));
  return btoa(String.fromCharCode(...hash));
}
