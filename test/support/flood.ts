import { makeApiKey, systemRandomBytes } from "../../src/accounts/api-key.ts";
import { rawCall, requestText } from "./raw-http.ts";
import { callUntilStopped } from "./until-stopped.ts";

// Calls by the thousand a second until it is ended, in a process of its own so that it does not slow its measurer down.
// Arguments: address, connections, path, and a key, or none for a bad key of a new kind with each call. Says
// which answers it got when it is stopped by a line on standard input.

const [url = "", connections = "1", path = "/", key] = process.argv.slice(2);
const answers: { [answer: string]: number } = {};

const BAD_KEYS: readonly (() => string)[] = [
  () => makeApiKey(systemRandomBytes),
  () => crypto.randomUUID(),
  () => `asy_${"0".repeat(36)}`,
  () => "x".repeat(4000),
  () => "Bearer Bearer",
];

async function callOn(isStopped: () => boolean): Promise<void> {
  for (let count = 0; !isStopped(); count += 1) {
    const bearer = key ?? BAD_KEYS[count % BAD_KEYS.length]?.() ?? "";
    const reply = await rawCall(url, requestText(path, { key: bearer }));
    const body: { error?: { code: string } } = JSON.parse(reply.body);
    const answer = `${reply.status} ${body.error?.code ?? "ok"}`;
    answers[answer] = (answers[answer] ?? 0) + 1;
    // A pause leaves the machine's cores something for the server and for who measures it.
    await Bun.sleep(1);
  }
}

await callUntilStopped(Number(connections), callOn, () => answers);
