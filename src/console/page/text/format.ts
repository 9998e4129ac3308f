/** Numbers, money and times in the visitor's own locale. */

/** A formatter takes milliseconds to create, so each is created with its first use. */
function lazily<Formatter>(make: () => Formatter): () => Formatter {
  let made: Formatter | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const dollars = { style: "currency", currency: "USD" } as const;
const wholes = lazily(() => new Intl.NumberFormat());
const tenths = lazily(() => new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }));
const hundredths = lazily(() => new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 }));
const shorts = lazily(
  () => new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }),
);
const percents = lazily(
  () => new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }),
);
const moneys = lazily(() => new Intl.NumberFormat(undefined, dollars));
const exactMoneys = lazily(() => new Intl.NumberFormat(undefined, { ...dollars, maximumFractionDigits: 6 }));
const moments = lazily(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }));
const utcMoments = lazily(
  () => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }),
);
const days = lazily(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" }));
const months = lazily(
  () => new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" }),
);
const shortDays = lazily(
  () => new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" }),
);

export function countOf(number: number): string {
  return wholes().format(number);
}

/** A number with at most two decimals. */
export function decimalOf(number: number): string {
  return hundredths().format(number);
}

export function shortCountOf(number: number): string {
  return shorts().format(number);
}

export function percentOf(share: number): string {
  return percents().format(share);
}

/** Money to the cent. */
export function moneyOf(usd: string | number): string {
  return moneys().format(Number(usd));
}

/** Money to the last decimal, for prices of a unit. */
export function exactMoneyOf(usd: string | number): string {
  return exactMoneys().format(Number(usd));
}

export function momentOf(iso: string): string {
  return moments().format(new Date(iso));
}

/** A moment for documents that name UTC. */
export function utcMomentOf(iso: string): string {
  return utcMoments().format(new Date(iso));
}

/** From one day of the server's calendar to another, the year once where it is the same. */
export function periodOf(startIso: string, endIso: string): string {
  return days().formatRange(new Date(startIso), new Date(endIso));
}

/** A day of the server's calendar, which is UTC. */
export function dayOf(iso: string): string {
  return days().format(new Date(iso));
}

/** The month of a moment in the server's calendar, which is UTC. */
export function monthOf(iso: string): string {
  return months().format(new Date(iso));
}

export function shortDayOf(iso: string): string {
  return shortDays().format(new Date(iso));
}

/** A duration, in its two largest units. */
export function durationOf(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.round(hours / 24)} days`;
}

export function bytesOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${countOf(Math.round(bytes / 1_000))} kB`;
  if (bytes < 1_000_000_000) return `${tenths().format(bytes / 1_000_000)} MB`;
  return `${tenths().format(bytes / 1_000_000_000)} GB`;
}

const SHORT_FORMS = /\b(?:mx|dns|spf|dmarc|ip|tld|cname|iban|bban|sepa|bic|cpf|cnpj|ein|isbn|ean13|vat)\b/g;

/** Writes a word of the API for a reader: `implicit_mx` as "Implicit MX". */
export function wordsOf(name: string): string {
  const words = name.replaceAll("_", " ").replace(SHORT_FORMS, (short) => short.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
