import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { newSecret, signedHeaders } from "../../src/webhooks/signature.ts";

/** What stands for the reader's secret. */
const SAMPLE_SECRET = "whsec_YOUR_SECRET";

const secret = newSecret(randomBytes);
const body = JSON.stringify({
  type: "job.completed",
  timestamp: new Date().toISOString(),
  data: { job_id: "job_1", counts: { rows: 2, distinct: 2, processed: 2 }, name: "Zoë" },
});

/** Deliveries that a receiver is shown, and whether it is to believe them. */
function deliveries() {
  const now = Date.now();
  const other = newSecret(randomBytes);
  const headersOf = (at: number, secrets: readonly string[]) =>
    signedHeaders({ id: "msg_1", at, body, secrets });
  return [
    { name: "genuine", headers: headersOf(now, [secret]), body, isGenuine: true },
    { name: "while a secret rotates", headers: headersOf(now, [other, secret]), body, isGenuine: true },
    { name: "of another secret", headers: headersOf(now, [other]), body, isGenuine: false },
    { name: "changed on the way", headers: headersOf(now, [secret]), body: `${body} `, isGenuine: false },
    { name: "an hour old", headers: headersOf(now - 3_600_000, [secret]), body, isGenuine: false },
  ];
}

/** Shows the `receive` of a program, which takes a Request, the deliveries. */
export async function expectTypeScriptReceiver(program: string, folder: string): Promise<void> {
  const file = join(folder, "receiver.ts");
  await Bun.write(file, program.replace(SAMPLE_SECRET, secret));
  const { receive } = (await import(file)) as { receive: (request: Request) => Promise<Response> };
  for (const { name, headers, body, isGenuine } of deliveries()) {
    const reply = await receive(new Request("https://hooks.example/", { method: "POST", headers, body }));
    expect([name, reply.status]).toEqual([name, isGenuine ? 204 : 400]);
  }
}

/** Shows the `is_genuine` of a program, which takes headers and bytes, the deliveries. */
export async function expectPythonReceiver(program: string, folder: string): Promise<void> {
  const file = join(folder, "receiver.py");
  const asked = `
import json, sys
for delivery in json.load(sys.stdin):
    print(delivery["name"], is_genuine(delivery["headers"], delivery["body"].encode()))
`;
  await Bun.write(file, program.replace(SAMPLE_SECRET, secret) + asked);
  const shown = deliveries();
  const stdin = new Blob([JSON.stringify(shown)]);
  const child = Bun.spawn(["python3", file], { stdin, stdout: "pipe", stderr: "inherit" });
  const printed = await new Response(child.stdout).text();
  const expected = shown.map(({ name, isGenuine }) => `${name} ${isGenuine ? "True" : "False"}`);
  expect(printed.trim().split("\n")).toEqual(expected);
}
