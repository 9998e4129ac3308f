import { type Api, codeOf } from "../wire/api.ts";

/** Erases what the server has of an upload. Returns the error where it does not; null where nothing is left of it. */
export async function eraseUpload(api: Api, jobId: string): Promise<unknown> {
  try {
    await api.remove(`/v1/jobs/${jobId}`);
    return null;
  } catch (error) {
    return codeOf(error) === "not_found" ? null : error;
  }
}
