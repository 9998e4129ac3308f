import { LISTINGS } from "./bounds.ts";

const TOPICS =
  "weather translation image video search chat completion scraping maps finance news sports".split(" ");
const WORDS =
  "fast cheap reliable global model agent data stream vision audio text legal medical market price".split(
    " ",
  );

serveUpstream();

/** A record of the size that real ones have, about 730 bytes; `edition` changes what is measured anew each day. */
function record(n: number, edition: number): string {
  const host = `${TOPICS[n % TOPICS.length]}-${n}.example`;
  const pick = (step: number) => `${WORDS[(n * step + step) % WORDS.length]}`;
  const urls = ["/v1/run", "/v1/batch"].map((path) => `https://${host}${path}`);
  return JSON.stringify({
    host,
    service_name: `${TOPICS[(n * 7) % TOPICS.length]} service ${n}`,
    description: `A ${pick(3)} ${pick(5)} ${pick(7)} service for ${pick(11)} ${pick(13)}, number ${n}, with ${pick(17)} answers`,
    endpoints: 2,
    score: (n * 37) % 101,
    evidence: {
      pay_to: `0x${(n + 1).toString(16).padStart(40, "0")}`,
      uptime_30d: ((n * 13 + edition) % 1000) / 1000,
      probes_30d: 4320 + edition,
      median_latency_ms: (n * 17) % 3000,
      payers_30d: (n * 5) % 400,
      settlements_30d: (n * 29) % 9000,
      last_paid: new Date(1_760_000_000_000 - (n % 5000) * 60_000).toISOString(),
      pay_to_changed_at: null,
      price_usd: `0.${String((n * 7919) % 1_000_000).padStart(6, "0")}`,
    },
    resources: urls.map((url) => ({ url, score: (n * 37) % 101, price_usd: "0.010000" })),
    judged_by: `https://judge.example/v1/check?resource=${encodeURIComponent(urls[0] ?? "")}`,
  });
}

/** Serves an export that is a new edition whenever it is asked to be one. */
function serveUpstream(): void {
  const bodyOf = (edition: number) =>
    Bun.gzipSync(Array.from({ length: LISTINGS }, (_, n) => record(n, edition)).join("\n"), { level: 1 });
  let edition = 1;
  let body = bodyOf(edition);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.url.endsWith("/next")) {
        edition += 1;
        body = bodyOf(edition);
        return new Response("ok");
      }
      if (!request.url.endsWith("/v1/directory/export")) return new Response("{}", { status: 404 });
      return new Response(body, { headers: { "Content-Encoding": "gzip", ETag: `"${edition}"` } });
    },
  });
  process.stdout.write(`http://127.0.0.1:${server.port}\n`);
}
