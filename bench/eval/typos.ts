import allListed from "email-providers/all.json" with { type: "json" };
import { createDomainLists } from "../../src/domains/lists.ts";
import type { MailEvidence } from "../../src/verification/email/domain-facts.ts";
import { isIcannTld } from "../../src/verification/email/mail-domain.ts";
import { allProviders, providerOf } from "../../src/verification/email/providers.ts";
import { suggestDomain } from "../../src/verification/email/suggestion.ts";
import realText from "./data/real-domains.txt" with { type: "text" };
import typosText from "./data/typos.txt" with { type: "text" };
import { type Evaluation, percent, rowsOf } from "./evaluation.ts";
import { type SlipKind, slipsOf } from "./slips.ts";

const RECALL_MIN = 0.92;

/** Providers with names of five letters or more; shorter names are left alone by rule. */
const POPULAR =
  `gmail.com yahoo.com hotmail.com outlook.com icloud.com protonmail.com rocketmail.com googlemail.com yandex.ru
  comcast.net verizon.net sbcglobal.net bellsouth.net earthlink.net charter.net btinternet.com virginmedia.com
  t-online.de freenet.de orange.fr wanadoo.fr laposte.net libero.it virgilio.it hotmail.fr hotmail.co.uk yahoo.co.uk
  yahoo.fr yahoo.com.br rediffmail.com rambler.ru bigpond.com sympatico.ca`.split(/\s+/);

/** Measures did_you_mean: recall on slips, and silence on domains that are no slips. */
export async function evaluateTypos(): Promise<Evaluation> {
  const parts = [
    gathered("unknown"),
    gathered("none"),
    byRule(),
    silence("unknown"),
    silence("none"),
    listed(),
  ];
  return {
    lines: ["did_you_mean", ...parts.flatMap((part) => part.lines.map((line) => `  ${line}`))],
    ok: parts.every((part) => part.ok),
  };
}

function gathered(mail: MailEvidence): Evaluation {
  const rows = rowsOf(typosText);
  const missed = rows.filter(([typed = "", meant]) => suggestDomain(typed, mail) !== meant);
  const found = rows.length - missed.length;
  const names = missed.map(([typed]) => typed).join(" ");
  return {
    lines: [
      `recall, gathered slips, mail ${mail}: ${percent(found, rows.length)} of ${rows.length} ${names}`.trim(),
    ],
    ok: found / rows.length >= RECALL_MIN,
  };
}

function byRule(): Evaluation {
  const kinds = new Map<SlipKind, { found: number; all: number }>();
  for (const meant of POPULAR) {
    for (const [kind, typed] of slipsOf(meant)) {
      if (providerOf(typed) !== undefined) continue;
      const count = kinds.get(kind) ?? { found: 0, all: 0 };
      count.all++;
      if (suggestDomain(typed, "unknown") === meant) count.found++;
      kinds.set(kind, count);
    }
  }
  const counts = [...kinds.values()];
  const found = counts.reduce((sum, count) => sum + count.found, 0);
  const all = counts.reduce((sum, count) => sum + count.all, 0);
  const each = [...kinds].map(([kind, count]) => `${kind} ${percent(count.found, count.all)}`);
  return {
    lines: [
      `recall, every slip by rule in ${POPULAR.length} providers: ${percent(found, all)} of ${all}`,
      `  ${each.join(", ")}`,
    ],
    ok: found / all >= RECALL_MIN,
  };
}

function silence(mail: MailEvidence): Evaluation {
  const domains = [...rowsOf(realText).map(([domain = ""]) => domain), ...allProviders().keys()];
  const alarms = domains.filter((domain) => suggestDomain(domain, mail) !== null);
  return {
    lines: [
      `false alarms, domains in their own right, mail ${mail}: ${alarms.length} of ${domains.length} ${alarms.join(" ")}`.trim(),
    ],
    ok: alarms.length === 0,
  };
}

/** The widest list of real mail domains at hand; it holds slips of its own, so the figure is only shown. */
function listed(): Evaluation {
  const { listsOf } = createDomainLists();
  const domains = (allListed as readonly string[]).filter(
    (domain) => /^[a-z0-9.-]+$/.test(domain) && isIcannTld(domain.slice(domain.lastIndexOf(".") + 1)),
  );
  const alarms = domains.filter((domain) => suggestDomain(domain, "unknown") !== null);
  const flagged = alarms.filter((domain) => !listsOf(domain, []).freeProvider);
  return {
    lines: [
      `for information, on the ${domains.length} names of the widest provider list: ${alarms.length} suggestions`,
      `  ${flagged.join(" ")}`,
    ],
    ok: true,
  };
}
