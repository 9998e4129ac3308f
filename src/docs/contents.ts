import api from "./api.md" with { type: "text" };
import architecture from "./architecture.md" with { type: "text" };
import billing from "./billing.md" with { type: "text" };
import capacity from "./capacity.md" with { type: "text" };
import client from "./client.md" with { type: "text" };
import cluster from "./cluster.md" with { type: "text" };
import commandLine from "./command-line.md" with { type: "text" };
import consolePage from "./console.md" with { type: "text" };
import data from "./data.md" with { type: "text" };
import directory from "./directory.md" with { type: "text" };
import email from "./email.md" with { type: "text" };
import errors from "./errors.md" with { type: "text" };
import faults from "./faults.md" with { type: "text" };
import firstBatch from "./first-batch.md" with { type: "text" };
import firstSteps from "./first-steps.md" with { type: "text" };
import idempotency from "./idempotency.md" with { type: "text" };
import identity from "./identity.md" with { type: "text" };
import inference from "./inference.md" with { type: "text" };
import jobs from "./jobs.md" with { type: "text" };
import limits from "./limits.md" with { type: "text" };
import paidServices from "./paid-services.md" with { type: "text" };
import phone from "./phone.md" with { type: "text" };
import scanning from "./scanning.md" with { type: "text" };
import selfHosting from "./self-hosting.md" with { type: "text" };
import upgrading from "./upgrading.md" with { type: "text" };
import webhooks from "./webhooks.md" with { type: "text" };

/** A page of Markdown; it is served at `/docs/<name>`. */
export type Chapter = { readonly name: string; readonly markdown: string; readonly summary: string };
export type Part = { readonly title: string; readonly chapters: readonly Chapter[] };

const chapter = (name: string, markdown: string, summary: string): Chapter => ({ name, markdown, summary });

/** The pages of the documentation in the order of reading. */
export const CONTENTS: readonly Part[] = [
  {
    title: "Guides",
    chapters: [
      chapter("first-steps", firstSteps, "From a fresh clone to the first answers, with Node.js alone."),
      chapter("first-batch", firstBatch, "A key, one address, a list: in curl, TypeScript and Python."),
      chapter("api", api, "Keys, headers, batches, and the order of refusals."),
      chapter("errors", errors, "Every code, what it means and what to do."),
      chapter("idempotency", idempotency, "Send a call again and be charged once."),
      chapter("jobs", jobs, "Lists of millions: sent, watched, read."),
      chapter("limits", limits, "Sizes, rates and times, and what lies past them."),
      chapter("webhooks", webhooks, "Receive events: signatures, retries, replays."),
      chapter("console", consolePage, "A page to look and act: checks, lists, keys, invoices."),
      chapter("command-line", commandLine, "Files of any length, resumed where they stopped."),
      chapter("client", client, "Types, streams, retries; Node.js, Bun, Deno, browsers."),
    ],
  },
  {
    title: "What results say",
    chapters: [
      chapter("email", email, "Statuses, scores, reasons, and how they are found."),
      chapter("identity", identity, "CPF, CNPJ, IBAN, VAT, cards, ISBN, EAN-13, EIN."),
      chapter("phone", phone, "Numbers as people write them, by numbering plan."),
    ],
  },
  {
    title: "Money and data",
    chapters: [
      chapter("billing", billing, "Plans, what you pay, invoices."),
      chapter("data", data, "What stays on the server, where, and until when."),
      chapter("directory", directory, "Paid services from a snapshot that readers can trust."),
      chapter("paid-services", paidServices, "Servers without keys: who pays a call is its caller."),
      chapter("inference", inference, "OpenAI's chat completions, paid by the call, with signed receipts."),
      chapter("scanning", scanning, "25 checks of a paid service, and how to pass them."),
    ],
  },
  {
    title: "Operating",
    chapters: [
      chapter("self-hosting", selfHosting, "One executable, a service, a TLS proxy, metrics."),
      chapter("cluster", cluster, "Several nodes on one PostgreSQL: what holds, failover, upgrades."),
      chapter("upgrading", upgrading, "New versions, backups, restores."),
      chapter("capacity", capacity, "Measured figures, and a plan for your load."),
      chapter("faults", faults, "What was broken on purpose, and what was left."),
      chapter("architecture", architecture, "The rooms of the code, one check and one batch."),
    ],
  },
];
