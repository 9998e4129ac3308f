import { expect, test } from "bun:test";
import { type Answer, encode } from "dns-packet";
import fc from "fast-check";
import type { RecordType } from "../../src/dns/lookup.ts";
import { isEncodable } from "../../src/dns/name.ts";
import { encodeQuery, isReplyTo } from "../../src/dns/query.ts";
import { readReply } from "../../src/dns/reply.ts";

const TYPES: readonly RecordType[] = ["A", "AAAA", "MX", "TXT"];
const OUTCOMES = ["answer", "nodata", "nxdomain", "error"];

function queryFor(name: string, type: RecordType) {
  const query = encodeQuery(name, type, true);
  if (query === null) throw new Error(`no question: ${name}`);
  return query;
}

function reply(flags: number, answers: Answer[], authorities: Answer[] = []): Buffer {
  return encode({
    type: "response",
    id: 1,
    flags,
    questions: [{ type: "MX", name: "a.com" }],
    answers,
    authorities,
  });
}

test("random octets are no reply, and reading them never throws", () => {
  const query = queryFor("a.com", "MX");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (octets) => {
      expect(isReplyTo(Buffer.from(octets), query)).toBe(
        octets.length >= 12 && ((octets[2] ?? 0) & 0xf8) === 0x80 && octets[4] === 0 && octets[5] === 0
          ? ![0, 3].includes((octets[3] ?? 0) & 0x0f)
          : false,
      );
    }),
    { numRuns: 2000 },
  );
});

test("whatever follows a matching question, the reading is one of those named, with records of its type", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TYPES),
      fc.array(fc.nat(3), { minLength: 3, maxLength: 3 }),
      fc.nat(15),
      fc.uint8Array({ maxLength: 400 }),
      (type, counts, rcode, tail) => {
        const query = queryFor("a.com", type);
        const header = Buffer.from(query.packet.subarray(0, query.questionEnd));
        header[2] = 0x81;
        header[3] = 0x80 | rcode;
        for (const [at, count] of counts.entries()) header.writeUInt16BE(count, 6 + 2 * at);
        const message = Buffer.concat([header, tail]);
        expect(isReplyTo(message, query)).toBe(true);
        const reading = readReply(message, "a.com", type);
        if (reading.kind !== "done") {
          expect(["alias", "failed", "malformed"]).toContain(reading.kind);
          return;
        }
        expect(OUTCOMES).toContain(reading.lookup.outcome);
        for (const record of reading.lookup.records) {
          expect(typeof record).toBe(type === "MX" ? "object" : "string");
        }
      },
    ),
    { numRuns: 5000 },
  );
});

test("a reply with octets changed at random never names records that the question is not about", () => {
  const answers: Answer[] = [
    { type: "CNAME", name: "a.com", ttl: 60, class: "IN", data: "b.com" },
    { type: "MX", name: "b.com", ttl: 60, class: "IN", data: { preference: 5, exchange: "mx.b.com" } },
    {
      type: "MX",
      name: "elsewhere.com",
      ttl: 60,
      class: "IN",
      data: { preference: 1, exchange: "evil.com" },
    },
  ];
  const good = reply(0x8180, answers);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 12, max: good.length - 1 }), fc.nat(255)), { maxLength: 4 }),
      (changes) => {
        const message = Buffer.from(good);
        for (const [at, octet] of changes) message[at] = octet;
        const reading = readReply(message, "a.com", "MX");
        if (reading.kind === "done") {
          expect(reading.lookup.records.map(({ exchange }) => exchange)).not.toContain("evil.com");
        }
        if (changes.length === 0) {
          expect(reading).toMatchObject({
            kind: "done",
            lookup: { records: [{ preference: 5, exchange: "mx.b.com" }], alias: true },
          });
        }
      },
    ),
    { numRuns: 5000 },
  );
});

test("records of other names, types and classes are left aside", () => {
  const mx = { preference: 1, exchange: "mx.b.com" };
  const message = reply(0x8180, [
    { type: "MX", name: "b.com", ttl: 60, class: "IN", data: mx },
    { type: "MX", name: "a.com", ttl: 60, class: "CH", data: mx },
    { type: "A", name: "a.com", ttl: 60, class: "IN", data: "8.8.8.8" },
    { type: "MX", name: "A.com", ttl: 60, class: "IN", data: { preference: 2, exchange: "MX.a.com" } },
  ]);
  expect(readReply(message, "a.com", "MX")).toMatchObject({
    lookup: { records: [{ preference: 2, exchange: "mx.a.com" }] },
  });
});

test("a TTL with the topmost bit set counts as zero", () => {
  const mx = { preference: 1, exchange: "mx.a.com" };
  const message = reply(0x8180, [{ type: "MX", name: "a.com", ttl: 0xffffffff, class: "IN", data: mx }]);
  expect(readReply(message, "a.com", "MX")).toMatchObject({ lookup: { ttlSeconds: 0 } });
});

test("an extended response code is a failure", () => {
  const message = encode({
    type: "response",
    id: 1,
    questions: [{ type: "MX", name: "a.com" }],
    additionals: [
      {
        type: "OPT",
        name: ".",
        udpPayloadSize: 1232,
        extendedRcode: 1,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  });
  expect(readReply(message, "a.com", "MX")).toEqual({ kind: "failed", rcode: "rcode_16" });
});

test("a question is encoded for a name that has room in a message, and for no other", () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.string(), fc.stringMatching(/^[a-z.]{0,300}$/)), (name) => {
      expect(encodeQuery(name, "A", false) !== null).toBe(isEncodable(name));
    }),
  );
});
