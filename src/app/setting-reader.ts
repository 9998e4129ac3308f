import { readFileSync } from "node:fs";
import { DEFAULT_PLANS, isPlanName, type PlanCatalogue } from "../billing/plans.ts";
import { readPlans } from "../billing/plans-file.ts";
import { PLAN_NAMES, type PlanName } from "../contract/words.ts";
import { parseServerAddress } from "../dns/server-address.ts";
import { parseDatabaseUrl } from "../store/postgres/connection/database-url.ts";

export type Environment = { readonly [name: string]: string | undefined };

/** `loopback`: for callers on this machine, and not through a proxy. */
export type MetricsAccess = (typeof METRICS_ACCESS)[number];

const METRICS_ACCESS = ["loopback", "public", "off"] as const;
const SECRET_CHARACTERS_MIN = 16;

/** All that is wrong with the settings, one line each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export type ReadText = (path: string) => string;

export type SettingReader = ReturnType<typeof createReader>;

/** Reads one name at a time and gathers what is wrong; `finish` throws it all at once. */
export function createReader(environment: Environment) {
  const problems: string[] = [];
  const raw = (name: string): string | null => {
    const value = environment[name]?.trim();
    return value === undefined || value === "" ? null : value;
  };
  const list = (name: string): string[] => {
    const parts = (raw(name) ?? "").split(",").map((part) => part.trim());
    return parts.filter((part) => part !== "");
  };
  const fallBack = <T>(fallback: T, text: string): T => {
    problems.push(text);
    return fallback;
  };
  /** The text of the file that a setting names. */
  const fileText = (
    name: string,
    readText: ReadText = (path) => readFileSync(path, "utf8"),
  ): string | null => {
    const path = raw(name);
    if (path === null) return null;
    try {
      return readText(path);
    } catch {
      return fallBack(null, `${name}: ${path} cannot be read.`);
    }
  };
  return {
    list,
    fileText,
    text: (name: string, fallback: string): string => raw(name) ?? fallback,
    optional: (name: string): string | null => raw(name),
    database(name: string): string | null {
      const value = raw(name);
      if (value === null) return null;
      if (parseDatabaseUrl(value) !== null) return value;
      // It may contain a password.
      return fallBack(
        null,
        `${name} must be postgres://user:password@host:port/database; of several hosts, with commas between them, the one that takes writes is used. In a user or password write @ : / ? # % as %40 %3A %2F %3F %23 %25.`,
      );
    },
    planNames(name: string): readonly PlanName[] {
      const value = raw(name);
      if (value === null) return PLAN_NAMES;
      const names = value.split(",").map((part) => part.trim().toLowerCase());
      if (names.every(isPlanName)) return names;
      return fallBack(PLAN_NAMES, `${name} must list plans of ${PLAN_NAMES.join(", ")}, not "${value}".`);
    },
    servers(name: string): string[] {
      const servers = list(name);
      for (const server of servers) {
        if (parseServerAddress(server) !== null) continue;
        problems.push(`${name} must list IP addresses, each with or without a port, not "${server}".`);
      }
      return servers;
    },
    origins(name: string): string[] {
      const origins = list(name);
      for (const origin of origins) {
        // A star is an origin by its form alone, and the one of no page.
        if (/^https?:[^*]*$/.test(origin) && URL.parse(origin)?.origin === origin) continue;
        problems.push(`${name} must list origins such as https://app.example, not "${origin}".`);
      }
      return origins;
    },
    plans(name: string, readText?: ReadText): PlanCatalogue {
      const text = fileText(name, readText);
      if (text === null) return DEFAULT_PLANS;
      const read = readPlans(text);
      if (read.ok) return read.plans;
      problems.push(...read.problems.map((problem) => `${name}: ${problem}.`));
      return DEFAULT_PLANS;
    },
    integer(name: string, fallback: number, min: number, max: number): number {
      const value = raw(name);
      if (value === null) return fallback;
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      return fallBack(fallback, `${name} must be a whole number from ${min} to ${max}, not "${value}".`);
    },
    flag(name: string, fallback: boolean): boolean {
      const value = raw(name)?.toLowerCase();
      if (value === undefined) return fallback;
      if (value === "true" || value === "1") return true;
      if (value === "false" || value === "0") return false;
      return fallBack(fallback, `${name} must be true or false, not "${value}".`);
    },
    metrics(name: string, fallback: MetricsAccess): MetricsAccess {
      const value = raw(name)?.toLowerCase() ?? fallback;
      if (value === "true") return "loopback";
      if (value === "false") return "off";
      const access = METRICS_ACCESS.find((word) => word === value);
      return access ?? fallBack(fallback, `${name} must be loopback, public or off, not "${value}".`);
    },
    secret(name: string): string | null {
      const value = raw(name);
      if (value === null) return null;
      if (value.length >= SECRET_CHARACTERS_MIN && /^[\x21-\x7e]+$/.test(value)) return value;
      return fallBack(null, `${name} must have at least ${SECRET_CHARACTERS_MIN} printable characters.`);
    },
    word<Word extends string>(name: string, fallback: Word, words: readonly Word[]): Word {
      const value = raw(name);
      if (value === null) return fallback;
      const word = words.find((candidate) => candidate === value.toLowerCase());
      return word ?? fallBack(fallback, `${name} must be one of ${words.join(", ")}, not "${value}".`);
    },
    url(name: string): string | null {
      const value = raw(name);
      if (value === null) return null;
      const protocol = URL.parse(value)?.protocol;
      if (protocol !== "https:" && protocol !== "http:") {
        return fallBack(null, `${name} must be an http or https address, not "${value}".`);
      }
      // Paths are put behind it.
      if (!/[?#]/.test(value)) return value.replace(/\/+$/, "");
      return fallBack(null, `${name} must be an address without a query or a fragment, not "${value}".`);
    },
    problem(text: string): void {
      problems.push(text);
    },
    finish(): void {
      // A setting may be read for two things.
      if (problems.length > 0) throw new ConfigError([...new Set(problems)].join("\n"));
    },
  };
}
