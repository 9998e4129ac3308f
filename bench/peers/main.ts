import { addressCorpus } from "../input.ts";
import { startDns } from "../load/dns.ts";
import { CORPUS } from "../load/jobs.ts";
import { proveServerRight } from "../load/proof.ts";
import { startServerProcess } from "../load/server-process.ts";
import { runSuite } from "../suite.ts";
import { measureEmail } from "./email-rounds.ts";
import packageFile from "./package.json" with { type: "json" };
import { measureTexts } from "./text-rounds.ts";

await runSuite("peers", async ({ scale, say }) => {
  await using dns = await startDns(addressCorpus(CORPUS).zone);
  await using server = await startServerProcess({ dns: dns.address });
  await proveServerRight(server);
  say(`measuring addresses; DNS by ${dns.software}`);
  const email = await measureEmail(server, dns.address, scale);
  say("measuring documents and phone numbers");
  const texts = await measureTexts(scale);
  return {
    versions: { ...packageFile.dependencies, dns: dns.software },
    figures: [...email.figures, ...texts],
    targets: email.targets,
  };
});
