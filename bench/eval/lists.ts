import { allLocales } from "@faker-js/faker";
import { createDomainLists } from "../../src/domains/lists.ts";
import { allProviders } from "../../src/verification/email/providers.ts";
import { isRole } from "../../src/verification/email/role.ts";
import realText from "./data/real-domains.txt" with { type: "text" };
import rolesText from "./data/roles.txt" with { type: "text" };
import { type Evaluation, percent, rowsOf } from "./evaluation.ts";

const ROLE_RECALL_MIN = 0.95;

/** Measures the lists: nobody real is called disposable, and no given name a role. */
export async function evaluateLists(): Promise<Evaluation> {
  const parts = [disposables(), rolesFound(), rolesInNames()];
  return {
    lines: ["lists", ...parts.flatMap((part) => part.lines.map((line) => `  ${line}`))],
    ok: parts.every((part) => part.ok),
  };
}

function disposables(): Evaluation {
  const { listsOf } = createDomainLists();
  const real = [...allProviders().keys(), ...rowsOf(realText).map(([domain = ""]) => domain)];
  const flagged = real.filter((domain) => listsOf(domain, []).disposable !== null);
  return {
    lines: [
      `disposable, false alarms on real domains: ${flagged.length} of ${real.length} ${flagged.join(" ")}`.trim(),
    ],
    ok: flagged.length === 0,
  };
}

function rolesFound(): Evaluation {
  const locals = rowsOf(rolesText).map(([local = ""]) => local);
  const missed = locals.filter((local) => !isRole(local));
  const found = locals.length - missed.length;
  return {
    lines: [`roles, recall: ${percent(found, locals.length)} of ${locals.length} ${missed.join(" ")}`.trim()],
    ok: found / locals.length >= ROLE_RECALL_MIN,
  };
}

/** Given names that are a role's word far more often. */
const NAMED_ROLES: ReadonlySet<string> = new Set(["dev"]);

function rolesInNames(): Evaluation {
  const names = new Set<string>();
  for (const locale of Object.values(allLocales)) collect(locale.person?.first_name, names);
  const flagged = [...names].filter(isRole);
  return {
    lines: [
      `roles, false alarms on given names: ${flagged.length} of ${names.size} ${flagged.join(" ")}`.trim(),
    ],
    ok: flagged.every((name) => NAMED_ROLES.has(name)),
  };
}

function collect(value: unknown, names: Set<string>): void {
  if (typeof value === "string")
    names.add(value.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC").toLowerCase());
  else if (value !== null && typeof value === "object")
    for (const part of Object.values(value)) collect(part, names);
}
