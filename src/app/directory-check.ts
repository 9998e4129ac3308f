import type { Directory } from "../directory/directory.ts";
import type { Check } from "../http/routes/health.ts";

/** Returns the check of how old a directory's snapshot is. */
export function directoryCheck(directory: Pick<Directory, "opening" | "status">): Check {
  return {
    fallback: "warn",
    run: async () => {
      await directory.opening();
      const { status, ageSeconds, output } = directory.status();
      return { status, observed: ageSeconds, unit: "s", ...(output === null ? {} : { output }) };
    },
  };
}
