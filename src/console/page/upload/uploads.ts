import { pause } from "../../../platform/pause.ts";
import { createStore, type Store } from "../state/store.ts";
import { type Api, messageOf } from "../wire/api.ts";
import type { Job } from "../wire/bodies.ts";
import { Refusal } from "../wire/refusal.ts";
import {
  digestOf,
  isSameFile,
  type KeptUpload,
  partBytesOf,
  partCountOf,
  readKept,
  writeKept,
} from "./kept-upload.ts";
import { untilAnswered } from "./until-answered.ts";

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

export type Sending = {
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Blob;
  readonly onSent: (bytes: number) => void;
  readonly signal: AbortSignal;
};

export type UploadsDependencies = {
  readonly api: Api;
  readonly storage: Storage;
  /** Puts a part. Throws Refusal, Unreachable, or the reason of the signal. */
  readonly send: (sending: Sending) => Promise<void>;
  readonly wait?: typeof pause;
};

export function createUploads({ api, storage, send, wait = pause }: UploadsDependencies): Uploads {
  const kept = readKept(storage);
  const state = createStore<UploadState>(
    kept === null ? { status: "idle" } : { status: "interrupted", kept },
  );
  let stop = new AbortController();

  const show = (signal: AbortSignal, file: File, sent: number, isWaiting = false) => {
    if (signal.aborted) return;
    state.set({ status: "sending", name: file.name, sent, size: file.size, isWaiting });
  };
  /** What a visitor leaves behind must not come back for the next one. */
  const keep = (signal: AbortSignal, upload: KeptUpload) => {
    signal.throwIfAborted();
    writeKept(storage, upload);
  };

  /** Runs an upload and shows its state. */
  const run = async (work: (signal: AbortSignal) => Promise<Job>) => {
    stop = new AbortController();
    const { signal } = stop;
    try {
      const job = await work(signal);
      if (signal.aborted) return;
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
      await untilAnswered({ signal, wait }, (isAgain) => {
        show(signal, file, start, isAgain);
        return api.withKey((authorization) =>
          send({
            path: `/v1/jobs/${upload.jobId}/parts/${n}`,
            headers: { ...authorization, "Content-Type": "application/octet-stream", ...headers },
            body,
            onSent: (bytes) => show(signal, file, Math.min(file.size, start + bytes)),
            signal,
          }),
        );
      });
      upload = { ...upload, parts: [...upload.parts, digest] };
      keep(signal, upload);
    }
    show(signal, file, file.size);
    return untilAnswered({ signal, wait }, () => api.send<Job>("POST", `/v1/jobs/${upload.jobId}/start`));
  };

  /** Creates the job. One that was given up meanwhile is deleted, as the visitor who began it. */
  const create = async (path: string, contentType: string, signal: AbortSignal): Promise<Job> => {
    const headers = api.authorization();
    const reply = await api.open(path, { method: "POST", headers: { "Content-Type": contentType } });
    const job = (await reply.json()) as Job;
    if (signal.aborted) {
      await api.open(`/v1/jobs/${job.job_id}`, { method: "DELETE", headers }).catch(() => undefined);
    }
    signal.throwIfAborted();
    return job;
  };

  return {
    state,
    begin: ({ file, contentType, query }) =>
      run(async (signal) => {
        show(signal, file, 0);
        const job = await create(`/v1/jobs?upload=parts&${query}`, contentType, signal);
        const upload: KeptUpload = {
          jobId: job.job_id,
          name: file.name,
          size: file.size,
          lastModified: file.lastModified,
          partBytes: partBytesOf(file.size),
          parts: [],
        };
        keep(signal, upload);
        return sendParts(file, upload, signal);
      }),
    async resume(file) {
      const upload = readKept(storage);
      if (upload === null) return state.set({ status: "idle" });
      const [first = ""] = upload.parts;
      const isSame =
        isSameFile(upload, file) &&
        (first === "" || (await digestOf(file.slice(0, upload.partBytes))) === first);
      // The visitor may have left, or discarded it, meanwhile.
      if (readKept(storage)?.jobId !== upload.jobId) return;
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
