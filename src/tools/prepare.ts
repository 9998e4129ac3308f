import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Readies the project for a command of package.json: checks the version of Bun and installs the packages that are
 * missing, those of development only with `--development`. Where that fails it writes one sentence with the cause and
 * the cure and exits with 1. It imports no package and uses nothing that old versions of Bun cannot read.
 */

const ROOT = join(import.meta.dir, "../..");
/** After this long without a result the user sees what is waited for. */
const NOTE_AFTER_MS = 3000;
const INSTALL_TIMEOUT_MS = 300_000;

const least = /\d+\.\d+\.\d+/.exec(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).engines.bun);
const leastVersion = least === null ? "" : least[0];
const isDevelopment = process.argv.includes("--development");

function end(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Compares versions by their numbers. */
function isOlder(version: string, other: string): boolean {
  const numbers = version.split("-")[0]?.split(".").map(Number) ?? [];
  const others = other.split(".").map(Number);
  for (let position = 0; position < others.length; position++) {
    const difference = (numbers[position] ?? 0) - (others[position] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

async function install(): Promise<void> {
  const kinds = isDevelopment ? [] : ["--production", "--omit", "peer"];
  const child = Bun.spawn(
    [process.execPath, "install", "--frozen-lockfile", "--no-progress", "--no-summary", ...kinds],
    { cwd: ROOT, stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  const note = setTimeout(() => process.stderr.write("Installing packages …\n"), NOTE_AFTER_MS);
  const deadline = setTimeout(() => {
    child.kill();
    end(`The packages are not installed after ${INSTALL_TIMEOUT_MS / 60_000} minutes: ${REGISTRY_CURE}`);
  }, INSTALL_TIMEOUT_MS);
  const output = await new Response(child.stderr).text();
  const exitCode = await child.exited;
  clearTimeout(note);
  clearTimeout(deadline);
  if (exitCode !== 0) end(failureOf(output));
}

const REGISTRY_CURE =
  "check the network, a proxy in HTTPS_PROXY and a registry in .npmrc or bunfig.toml, then run the command again.";

const NETWORK =
  /\b(Connection\w+|DNS\w+|FailedToOpenSocket|\w*Timeout\w*|Unreachable|\w*CERT\w*|TLS\w*|UNABLE_TO\w+)\b/;
const REFUSAL = /GET (\S+) - (\d{3})/;

function failureOf(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const text = (lines.find((line) => line.startsWith("error:")) ?? lines[0] ?? "").replace(
    /^(error|warn): /,
    "",
  );
  if (output.includes("lockfile is frozen")) {
    return "The packages cannot be installed: bun.lock does not fit package.json; undo the change or run `bun install`, then run the command again.";
  }
  const [, address = "", status] = REFUSAL.exec(output) ?? [];
  if (status !== undefined) {
    return `The packages cannot be installed: the registry answered ${status} for ${address}; ${REGISTRY_CURE}`;
  }
  const [, reason] = NETWORK.exec(output) ?? [];
  if (reason !== undefined) {
    return `The packages cannot be installed: the registry cannot be reached (${reason}); ${REGISTRY_CURE}`;
  }
  return `The packages cannot be installed: ${text.trim().replace(/\.$/, "")}; free the disk or the folder node_modules where that is the cause, then run the command again.`;
}

if (isOlder(Bun.version, leastVersion)) {
  end(
    `This needs Bun ${leastVersion} or later and runs on ${Bun.version}: run \`bun upgrade\`, or use \`npx -y bun@1.4.5 run …\` in place of \`bun run …\`.`,
  );
}
await install();
