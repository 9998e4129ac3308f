import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../support/process.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

/** What a server writes until it has said where to get a key. */
async function greetingOf(environment: { readonly [name: string]: string }): Promise<string> {
  using folder = temporaryFolder("greeting");
  const child = Bun.spawn([process.execPath, "src/main.ts"], {
    cwd: join(import.meta.dir, "../.."),
    env: {
      PATH: process.env.PATH ?? "",
      PORT: "0",
      DATA_DIR: join(folder.path, "data"),
      LOG_LEVEL: "silent",
      ...environment,
    },
    stdout: "pipe",
  });
  let said = "";
  for await (const piece of child.stdout) {
    said += new TextDecoder().decode(piece);
    if (/^Get a key.*\n/m.test(said)) break;
  }
  child.kill("SIGKILL");
  await child.exited;
  return said;
}

test("the greeting leads to the pages, to the console where it is served, and to a key", async () => {
  const said = await greetingOf({});
  const [, url = "none"] = /^Assay listens on (http:\/\/127\.0\.0\.1:\d+)\n/.exec(said) ?? [];
  for (const path of ["/docs", "/console", "/v1/signup"]) expect(said).toContain(`${url}${path}`);
  expect(await greetingOf({ CONSOLE: "false" })).not.toContain("/console");
});
