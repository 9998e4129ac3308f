import type { Api, ApiDependencies } from "./api.ts";
import { Unreachable } from "./refusal.ts";

/**
 * Asks the server once whose reply broke off. One that is gone counts as lost from then on, and is asked until it is back;
 * one that answers does not: what breaks off each time would be read again without end.
 */
export function askAfterBreak(
  error: unknown,
  { api, connection }: Pick<ApiDependencies, "connection"> & { readonly api: Api },
): void {
  if (!(error instanceof Unreachable) || connection.get() === "lost") return;
  api.open("/healthz").catch(() => undefined);
}
