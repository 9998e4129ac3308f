import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { failedStart, temporaryFolder } from "../support/process.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

test("a port that is in use is named, with what to do", async () => {
  using folder = temporaryFolder("refused-listening");
  using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
  const refused = await failedStart({ DATA_DIR: join(folder.path, "data"), PORT: String(other.port) });
  expect(refused).toEqual({
    exitCode: 1,
    said: `127.0.0.1:${other.port} is in use. Stop what listens there, or set PORT to another port.\n`,
  });
});

test("a HOST that is no address of the machine is named, with what it may be", async () => {
  using folder = temporaryFolder("refused-listening");
  for (const host of ["nonsense", "192.0.2.1"]) {
    expect(await failedStart({ DATA_DIR: join(folder.path, "data"), HOST: host })).toEqual({
      exitCode: 1,
      said: `HOST must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all, not "${host}".\n`,
    });
  }
});
