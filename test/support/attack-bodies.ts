/** Bodies that are large and worth little: what they cost the server is what they are for. */
export type AttackBody = {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
};

const BATCHES = [
  { kind: "emails", path: "/v1/email/batch", field: "emails" },
  { kind: "documents", path: "/v1/identity/batch", field: "items" },
  { kind: "phones", path: "/v1/phone/batch", field: "phones" },
] as const;

/** One item that fills the body, in each writing of a body, for each kind of batch. */
export function* singleItemBodies(bytes: number): Generator<AttackBody> {
  const digits = "\u0661".repeat((bytes - 64) / 2);
  const escaped = "\\u0661".repeat((bytes - 64) / 6);
  const controls = "\u0001".repeat(bytes - 64);
  for (const { kind, path, field } of BATCHES) {
    const listed = (text: string) =>
      field === "items" ? `{"items":[{"type":"card","value":"${text}"}]}` : `{"${field}":["${text}"]}`;
    yield { name: `a line of Arabic digits, ${kind}`, path, type: "text/plain", body: digits };
    yield { name: `a line of control characters, ${kind}`, path, type: "text/plain", body: controls };
    yield {
      name: `a JSON line of Arabic digits, ${kind}`,
      path,
      type: "application/x-ndjson",
      body: `"${digits}"`,
    };
    yield {
      name: `a JSON line of escapes, ${kind}`,
      path,
      type: "application/x-ndjson",
      body: `"${escaped}"`,
    };
    yield {
      name: `a JSON list of Arabic digits, ${kind}`,
      path,
      type: "application/json",
      body: listed(digits),
    };
    yield { name: `a JSON list of escapes, ${kind}`, path, type: "application/json", body: listed(escaped) };
  }
}

/** Bodies without an item, or with far too many. */
export function* emptyBodies(bytes: number): Generator<AttackBody> {
  const path = "/v1/email/batch";
  const [json, lines, text] = ["application/json", "application/x-ndjson", "text/plain"] as const;
  yield { name: "nothing but empty lines", path, type: text, body: "\n".repeat(bytes) };
  yield { name: "nothing but blank lines", path, type: lines, body: " \n".repeat(bytes / 2) };
  yield { name: "nothing but opening brackets", path, type: json, body: "[".repeat(bytes) };
  yield { name: "a line of opening brackets", path, type: lines, body: "[".repeat(bytes) };
  const many = (item: string) => `{"emails":[${`${item},`.repeat((bytes - 64) / (item.length + 1))}${item}]}`;
  yield { name: "millions of empty objects", path, type: json, body: many("{}") };
  yield { name: "millions of empty texts", path, type: json, body: many('""') };
  yield { name: "millions of escaped texts", path, type: json, body: many('"\\n"') };
  yield {
    name: "a country of its own size",
    path: "/v1/phone/batch",
    type: json,
    body: `{"phones":["1"],"country":"${"x".repeat(bytes - 64)}"}`,
  };
}
