import { startFixtureServer } from "../../src/made-up-dns/server.ts";

// A made-up DNS in a process of its own, so that it answers at once whatever the test is busy with. Its zone is in the
// environment; it writes its address.

const { address } = await startFixtureServer({ zone: process.env.TEST_ZONE ?? "" });
process.stdout.write(address);
