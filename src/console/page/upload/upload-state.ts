import { messageOf } from "../wire/api.ts";
import { isSent, type KeptUpload } from "./kept-upload.ts";

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
  /** All parts are on the server, and the page was loaded anew: the list may have been started. */
  | { readonly status: "unknown"; readonly kept: KeptUpload }
  /** All parts are on the server, and the list is not started; the message says why, null where that is not known. */
  | { readonly status: "unstarted"; readonly kept: KeptUpload; readonly message: string | null }
  | { readonly status: "failed"; readonly message: string }
  | { readonly status: "started"; readonly jobId: string };

/** The state of what the tab kept across a reload. */
export function stateOf(kept: KeptUpload | null): UploadState {
  if (kept === null) return { status: "idle" };
  return { status: isSent(kept) ? "unknown" : "interrupted", kept };
}

/** An upload that the server did not erase: sent wholly, it says why; else its file is asked for, and its view says so. */
export function undiscarded(kept: KeptUpload, failure: unknown): UploadState {
  return isSent(kept) ? { status: "unstarted", kept, message: messageOf(failure) } : stateOf(kept);
}
