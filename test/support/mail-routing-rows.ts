import type { MailRouting } from "../../src/verification/email/domain-facts.ts";
import rowsText from "../vectors/dns/mail-routing.txt" with { type: "text" };
import zoneText from "../vectors/dns/mail-routing-zone.txt" with { type: "text" };

export type MailRoutingRow = {
  readonly domain: string;
  /** As `written` writes it. */
  readonly routing: string;
  readonly status: string;
  readonly subStatus: string;
  /** It needs a server that misbehaves. */
  readonly faulty: boolean;
};

/** The zone behind the rows, for the fixture server. */
export const mailRoutingZone: string = zoneText;

const lines = zoneText.split("\n").map((line) => line.split(";")[0]?.trim() ?? "");
const faultyOwners = new Set(
  lines.filter((line) => line.includes("!") && !line.includes("!no-soa")).map((line) => line.split(/\s+/)[0]),
);

/** The table of mail routing, one row for each domain. */
export function mailRoutingRows(): MailRoutingRow[] {
  return rowsText
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [domain = "", routing = "", verdict = ""] = line.split("|").map((field) => field.trim());
      const [status = "", subStatus = ""] = verdict.split(" ");
      const names = [domain, ...routing.split(/[ ,]/)];
      return { domain, routing, status, subStatus, faulty: names.some((name) => faultyOwners.has(name)) };
    });
}

/** Mail routing in the words of the table. */
export function written(mail: MailRouting): string {
  if (mail.state !== "mx") return mail.state;
  const flags = [
    mail.cname ? " +cname" : "",
    mail.partlyDead ? " +partly_dead" : "",
    mail.nullMixed ? " +null_mixed" : "",
  ];
  return `mx ${mail.hosts.join(",")} ${mail.targets}${flags.join("")}`;
}

/** The zone without its faults as a master file of the zone `com`, for a server that knows no faults. */
export function masterFile(): string {
  const head = `$ORIGIN com.\n$TTL 300\n@ SOA ns hostmaster 1 3600 600 86400 300\n@ NS ns\nns A 127.0.0.1\n`;
  const records = lines.filter((line) => line !== "" && !line.includes("!")).map(withLastDots);
  return head + records.join("\n");
}

function withLastDots(line: string): string {
  const [owner = "", type = "", ...data] = line.split(/\s+/);
  const names = type === "MX" || type === "CNAME";
  const last = data.at(-1) ?? "";
  const target = names && !last.endsWith(".") ? `${last}.` : last;
  return [`${owner}.`, type, ...data.slice(0, -1), target].join(" ");
}
