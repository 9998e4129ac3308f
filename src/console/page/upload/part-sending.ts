import type { pause } from "../../../platform/pause.ts";
import type { Api } from "../wire/api.ts";
import type { Job } from "../wire/bodies.ts";
import { digestOf, type KeptUpload, partCountOf } from "./kept-upload.ts";
import { untilAnswered } from "./until-answered.ts";
import type { UploadsDependencies } from "./uploads.ts";

/** What is shown of an upload, by its file or what is kept of it. */
type Shown = Pick<File, "name" | "size">;

export type PartSendingDependencies = {
  readonly api: Api;
  readonly send: UploadsDependencies["send"];
  readonly wait: typeof pause;
  readonly show: (signal: AbortSignal, file: Shown, sent: number, isWaiting?: boolean) => void;
  /** Keeps what the server has. Throws the reason of the signal. */
  readonly keep: (signal: AbortSignal, upload: KeptUpload) => void;
};

/** Sends the parts of an upload one after another, and starts the list; repeats what the server does not answer. */
export function createPartSending({ api, send, wait, show, keep }: PartSendingDependencies) {
  const start = (upload: KeptUpload, signal: AbortSignal): Promise<Job> => {
    show(signal, upload, upload.size);
    return untilAnswered({ signal, wait }, () => api.send<Job>("POST", `/v1/jobs/${upload.jobId}/start`));
  };
  return {
    start,
    /** Sends what the server does not have yet, then starts the list. */
    async send(file: File, from: KeptUpload, signal: AbortSignal): Promise<Job> {
      let upload = from;
      const count = partCountOf(upload);
      for (let n = upload.parts.length + 1; n <= count; n++) {
        const begin = (n - 1) * upload.partBytes;
        const body = file.slice(begin, begin + upload.partBytes);
        const digest = await digestOf(body);
        const headers = digest === "" ? {} : { Digest: `sha-256=${digest}` };
        await untilAnswered({ signal, wait }, (isAgain) => {
          show(signal, file, begin, isAgain);
          return api.withKey((authorization) =>
            send({
              path: `/v1/jobs/${upload.jobId}/parts/${n}`,
              headers: { ...authorization, "Content-Type": "application/octet-stream", ...headers },
              body,
              onSent: (bytes) => show(signal, file, Math.min(file.size, begin + bytes)),
              signal,
            }),
          );
        });
        upload = { ...upload, parts: [...upload.parts, digest] };
        keep(signal, upload);
      }
      return start(upload, signal);
    },
  };
}
