import { ApiError } from "../contract/errors.ts";
import type { Directory } from "../directory/directory.ts";
import type { View } from "../directory/directory-health.ts";
import type { Reply } from "./reply.ts";

/** Returns the newest state of the directory; throws `directory_unavailable` before the first. */
export function viewOf(directory: Pick<Directory, "view">): View {
  const view = directory.view();
  if (view === null) throw new ApiError("directory_unavailable");
  return view;
}

/**
 * Returns the result of `answer` for the newest state of the directory; throws `directory_unavailable` before the first.
 * During the start a call waits until the stored state is read.
 */
export function withView(
  directory: Pick<Directory, "view" | "opening">,
  answer: (view: View) => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  const answerNow = () => answer(viewOf(directory));
  return directory.opening()?.then(answerNow) ?? answerNow();
}
