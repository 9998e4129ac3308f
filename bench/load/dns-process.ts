import { startFixtureServer } from "../../src/made-up-dns/server.ts";

// The built-in DNS server as a process of its own. Its argument is the path of a zone text.

const server = await startFixtureServer({ zone: await Bun.file(process.argv[2] ?? "").text() });
process.stdout.write(`${server.address}\n`);
