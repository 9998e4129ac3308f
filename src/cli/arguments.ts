import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { version } from "../../package.json" with { type: "json" };
import { DOCUMENT_TYPES, isDocumentType, UNCHECKED_WORDS } from "../contract/words.ts";
import { commandNamed } from "../platform/command-name.ts";
import { INPUT_FORMATS } from "../tables/input-format.ts";
import type { Task } from "../tables/task.ts";
import type { ServerTarget } from "./block-verifier.ts";
import { EXIT } from "./failure.ts";
import { type FileOptions, fileRun, type ServerOptions, serverTarget } from "./file-run-arguments.ts";
import type { FileRun } from "./file-run-options.ts";

/** A parsed command line. */
export type Request =
  | { readonly do: "file"; readonly run: FileRun }
  | { readonly do: "item"; readonly run: ItemRun }
  /** Help or an error, whose text is written already. */
  | { readonly do: "nothing"; readonly exitCode: number };

/** One item, given on the command line. */
export type ItemRun = {
  readonly task: Task;
  readonly item: string;
  readonly server: ServerTarget | null;
  readonly json: boolean;
};

const COMMAND = commandNamed("verify");

const AFTER_HELP = `
Input: CSV (the column is found by its header or by its cells, or named with --column), text with one item per
line, NDJSON (a JSON string per line, or objects with the item in "email", "value" or "phone"), or - for
standard input. Results come in the order of the input; CSV keeps the original columns, encoding, byte order mark
and line ends, and adds our columns.

A run with --output keeps FILE.resume beside its output until it is done. Interrupted, killed or out of disk, the
same command with --resume goes on where it stopped: no row is lost and none is written twice.

With --server the key is read from the environment variable ASSAY_API_KEY. What a file costs and what is left is
written before the first call; a file that costs more than is left is refused unless --partial is given. Without
--server everything is checked in this process; DNS_SERVERS, WORKER_THREADS and the other settings hold here too.

With --job the file is sent in parts as one job: interrupted, it goes on there, and --resume (with --output) or --attach
comes back to it, also while it was being sent. The output is the one of a run without --job.

Exit codes:
  ${EXIT.done}    done
  ${EXIT.badInput}    the command is wrong, or the input cannot be read
  ${EXIT.someUnchecked}    done, but some items could not be checked (${UNCHECKED_WORDS.join(", ")}), the DNS is at fault,
       or the input was changed while it was read
  ${EXIT.stopped}    stopped half-way: the disk or the server failed
  ${EXIT.interrupted}  interrupted (${EXIT.terminated}: terminated)
  ${EXIT.brokenPipe}  the reader of standard output has left

Examples:
  ${COMMAND} people.csv --output checked.csv
  ${COMMAND} people.csv --column "Work email" --only risky,undeliverable --output bad.csv
  cat addresses.txt | ${COMMAND.replace("bun run", "bun run --silent")} - --format ndjson
  ${COMMAND} documents ibans.txt --type iban
  ${COMMAND} phones customers.csv --country BR --output phones.csv
  ${COMMAND} people.csv --server https://assay.example --job --output checked.csv
  ${COMMAND} email ann@example.com
`;

/** Bridges a restart of the server: about 16 seconds where nothing answers. */
const RETRIES_DEFAULT = 6;

type ItemOptions = ServerOptions & { readonly json?: boolean };
type EmailOptions = { readonly deep?: boolean; readonly dns: boolean };
type DocumentOptions = { readonly type?: string };
type PhoneOptions = { readonly country?: string };

/** Parses the arguments after the command's name. Throws CliError where they contradict each other. */
export async function readArguments(args: readonly string[]): Promise<Request> {
  let request: Request = { do: "nothing", exitCode: EXIT.badInput };
  const program = createProgram((received) => {
    request = received;
  });
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return { do: "nothing", exitCode: error.exitCode };
    throw error;
  }
  return request;
}

function createProgram(onRequest: (request: Request) => void): Command {
  const program = new Command("verify").exitOverride().enablePositionalOptions();
  program.version(`assay ${version}`, "--version", "write the version");
  const fileCommand = <Options>(command: Command, taskOf: (options: Options) => Task) =>
    withFileOptions(command.argument("<file>", "the file to check, or - for standard input")).action(
      (path: string, options: FileOptions & Options) =>
        onRequest({ do: "file", run: fileRun(path, options, taskOf(options)) }),
    );
  const itemCommand = <Options>(command: Command, taskOf: (options: Options) => Task) =>
    withServer(command.option("--json", "write the result as JSON")).action(
      (item: string, { server, retries, json = false, ...options }: ItemOptions & Options) =>
        onRequest({
          do: "item",
          run: { task: taskOf(options as Options), item, server: serverTarget({ server, retries }), json },
        }),
    );

  program.description("Checks the email addresses of a file: whether each takes mail, and why.");
  withEmailOptions(fileCommand(program, emailTask)).addHelpText("after", AFTER_HELP);
  const documents = program.command("documents").description("checks the identity documents of a file");
  withDocumentOptions(fileCommand(documents, documentTask));
  const phones = program.command("phones").description("checks the phone numbers of a file");
  withPhoneOptions(fileCommand(phones, phoneTask));
  const email = program.command("email").argument("<address>").description("checks one address");
  withEmailOptions(itemCommand(email, emailTask));
  const document = program.command("document").argument("<value>").description("checks one document");
  withDocumentOptions(itemCommand(document, documentTask));
  const phone = program.command("phone").argument("<number>").description("checks one phone number");
  withPhoneOptions(itemCommand(phone, phoneTask));
  return program;
}

function withFileOptions(command: Command): Command {
  return withServer(
    command
      .option("-o, --output <file>", "write the results there (default: standard output)")
      .addOption(new Option("--format <form>", "form of the results").choices(["csv", "ndjson"]))
      .option("--only <statuses>", "write only results of these statuses, separated by commas")
      .option("-c, --column <name or number>", "the column of the items, or the field of NDJSON objects")
      .option("--header", "the first row of the CSV is a header")
      .option("--no-header", "the CSV has no header")
      .addOption(new Option("--input-format <form>", "form of the input").choices([...INPUT_FORMATS]))
      .option("--encoding <name>", "encoding of the input (default: UTF-8, or by its byte order mark)")
      .option("--resume", "go on where an earlier run stopped")
      .option("--force", "overwrite the output")
      .option(
        "--partial",
        "begin although the account's units do not suffice, and stop at the first call that they do not pay for",
      )
      .option("--job", "send the file to --server as a job, which goes on without this command")
      .option("--attach <job>", "come back to a job of this file")
      .option("-q, --quiet", "no progress, no summary"),
  );
}

function withServer(command: Command): Command {
  return command
    .option("--server <url>", "check on this server instead of here")
    .option("--retries <count>", "how often a call to the server is repeated", readRetries, RETRIES_DEFAULT);
}

function withEmailOptions(command: Command): Command {
  return command
    .option("--deep", "look up SPF and DMARC too")
    .option("--no-dns", "look nothing up: syntax and lists only");
}

function withDocumentOptions(command: Command): Command {
  const types = `type of all documents (default: detect each): ${DOCUMENT_TYPES.join(", ")}`;
  return command.option("--type <type>", types, (text) => {
    if (isDocumentType(text)) return text;
    throw new InvalidArgumentError(`It must be one of ${DOCUMENT_TYPES.join(", ")}.`);
  });
}

function withPhoneOptions(command: Command): Command {
  const flags = "--country <country>";
  return command
    .option(flags, "country of numbers without international prefix: a code such as BR, or +55")
    .hook("preAction", async () => {
      const { country } = command.opts<PhoneOptions>();
      if (country === undefined) return;
      // Only a country reads the numbering plans.
      const { readCountry } = await import("../verification/phone/region.ts");
      if (readCountry(country) !== null) return;
      const rule = "It must be an ISO 3166 code such as BR, or a calling code such as +55.";
      command.error(`error: option '${flags}' argument '${country}' is invalid. ${rule}`);
    });
}

const emailTask = ({ deep = false, dns }: EmailOptions): Task => ({ kind: "email", deep, dns });

const documentTask = ({ type = "" }: DocumentOptions): Task => ({
  kind: "identity",
  type: isDocumentType(type) ? type : null,
});

const phoneTask = ({ country }: PhoneOptions): Task => ({ kind: "phone", country: country ?? null });

function readRetries(text: string): number {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0 to 99.");
}
