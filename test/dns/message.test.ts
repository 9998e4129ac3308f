import { expect, test } from "bun:test";
import { type Answer, decode, encode } from "dns-packet";
import fc from "fast-check";
import type { RecordType } from "../../src/dns/lookup.ts";
import { isEncodable, readName } from "../../src/dns/name.ts";
import { encodeQuery, isReplyTo } from "../../src/dns/query.ts";
import { readReply } from "../../src/dns/reply.ts";

const TYPES: readonly RecordType[] = ["A", "AAAA", "MX", "TXT"];
const OUTCOMES = ["answer", "nodata", "nxdomain", "error"];

function queryFor(name: string, type: RecordType) {
  return queryWith(name, type, true);
}

function queryWith(name: string, type: RecordType, edns: boolean) {
  const query = encodeQuery(name, type, edns);
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

test("random octets are no reply, and parsing them never throws", () => {
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

test("whatever follows a matching question, parsing yields one of the declared kinds, with records of its type", () => {
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

test("a randomly corrupted reply never yields records of another name", () => {
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

test("records of other names, types and classes are ignored", () => {
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

test("records of other names alone are no denial, unless the reply says so", () => {
  const foreign = { type: "MX", name: "b.com", ttl: 60, class: "IN" } as const;
  const data = { preference: 1, exchange: "mx.b.com" };
  const own = { type: "A", name: "A.com", ttl: 60, class: "IN", data: "8.8.8.8" } as const;
  const [noError, nameError] = [0x8180, 0x8183];
  const many = Array.from({ length: 600 }, () => ({ ...foreign, data }));
  expect(readReply(reply(noError, [{ ...foreign, data }]), "a.com", "MX").kind).toBe("malformed");
  expect(readReply(reply(noError, [...many, { ...foreign, name: "a.com", data }]), "a.com", "MX").kind).toBe(
    "malformed",
  );
  expect(readReply(reply(noError, [{ ...foreign, data }, own]), "a.com", "MX")).toMatchObject({
    lookup: { outcome: "nodata" },
  });
  expect(readReply(reply(nameError, [{ ...foreign, data }]), "a.com", "MX")).toMatchObject({
    lookup: { outcome: "nxdomain" },
  });
});

test("of thousands of records the first 512 are read, 128 of MX, and all are checked for completeness", () => {
  const addresses = Array.from({ length: 3000 }, (_, at) => `8.8.${at >> 8}.${at & 255}`);
  const common = { name: "a.com", ttl: 60, class: "IN" } as const;
  const message = reply(
    0x8180,
    addresses.map((data) => ({ ...common, type: "A", data })),
  );
  const recordsIn = (reading: ReturnType<typeof readReply>) =>
    reading.kind === "done" ? reading.lookup.records : reading.kind;
  expect(recordsIn(readReply(message, "a.com", "A"))).toEqual(addresses.slice(0, 512));
  expect(recordsIn(readReply(message.subarray(0, message.length - 1), "a.com", "A"))).toBe("malformed");
  const exchanges = Array.from({ length: 600 }, (_, preference) => ({ preference, exchange: "mx.a.com" }));
  const exchangers = reply(
    0x8180,
    exchanges.map((data) => ({ ...common, type: "MX", data })),
  );
  expect(recordsIn(readReply(exchangers, "a.com", "MX"))).toEqual(exchanges.slice(0, 128));
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

test("a question is encoded only for a name that fits a message", () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.string(), fc.stringMatching(/^[a-z.]{0,300}$/)), (name) => {
      expect(encodeQuery(name, "A", false) !== null).toBe(isEncodable(name));
    }),
  );
});

const ttl = fc.nat(2 ** 31 - 1);
const name = fc.domain().map((domain) => domain.toLowerCase());
const text = fc.string({ unit: "binary-ascii", maxLength: 255 });
/** Records as a library writes them, which knows nothing of this code, and what is to be read of each. */
const RECORDS = {
  A: fc.ipV4().map((data) => ({ data, read: data })),
  AAAA: fc
    .array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
    .map((groups) => groups.map((group) => group.toString(16)).join(":"))
    .map((data) => ({ data, read: new URL(`http://[${data}]`).hostname.slice(1, -1) })),
  MX: fc
    .record({ preference: fc.nat(0xffff), exchange: fc.oneof(name, fc.constant(".")) })
    .map((data) => ({ data, read: data })),
  TXT: fc.array(text, { minLength: 1, maxLength: 4 }).map((data) => ({ data, read: data.join("") })),
} satisfies { [T in RecordType]: unknown };

test.each(TYPES)("%s records are read as they were written, also after aliases", (type) => {
  const written = fc.array(fc.tuple(RECORDS[type] as fc.Arbitrary<{ data: never; read: unknown }>, ttl), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(
      name,
      written,
      fc.uniqueArray(name, { maxLength: 4 }),
      ttl,
      (asked, records, others, aliasTtl) => {
        const chain = [asked, ...others.filter((other) => other !== asked)];
        const end = chain.at(-1) ?? asked;
        const aliases = chain.slice(1).map(
          (data, at): Answer => ({
            type: "CNAME",
            name: chain[at] ?? "",
            ttl: aliasTtl,
            class: "IN",
            data,
          }),
        );
        const message = encode({
          type: "response",
          id: 1,
          flags: 0x0180,
          questions: [{ type, name: asked }],
          answers: [
            ...aliases,
            ...records.map(
              ([{ data }, seconds]): Answer => ({ type, name: end, ttl: seconds, class: "IN", data }),
            ),
          ],
        });
        expect(readReply(message, asked, type)).toEqual({
          kind: "done",
          lookup: {
            outcome: "answer",
            records: records.map(([{ read }]) => read) as never,
            ttlSeconds: Math.min(...records.map(([, seconds]) => seconds), ...aliases.map(() => aliasTtl)),
            alias: aliases.length > 0,
            detail: null,
          },
        });
      },
    ),
    { numRuns: 300 },
  );
});

test("a question is encoded as the reference library encodes it", () => {
  fc.assert(
    fc.property(name, fc.constantFrom(...TYPES), fc.boolean(), (asked, type, edns) => {
      const query = queryWith(asked, type, edns);
      const { questions, additionals, flags, flag_rd } = decode(Buffer.from(query.packet));
      expect({ questions, flags, flag_rd }).toMatchObject({
        questions: [{ name: asked, type, class: "IN" }],
        flags: 0x0100,
        flag_rd: true,
      });
      expect(additionals).toMatchObject(
        edns ? [{ type: "OPT", name: ".", udpPayloadSize: 1232, options: [] }] : [],
      );
    }),
  );
});

test("a name is read however it is compressed, and one with an invalid pointer is none", () => {
  const octets = (written: string) => Buffer.from(written, "latin1");
  expect(readName(octets("\x03Net\x00\x04HOST\xc0\x00\x02mx\xc0\x05"), 12)).toBe("mx.host.net");
  expect(readName(octets("\x00"), 0)).toBe(".");
  for (const broken of [
    "",
    "\x03ne",
    "\x03net",
    "\xc0",
    "\xc0\x00",
    "\xc0\x05",
    "\x41",
    "\x80\x00",
    "\x01a\xc0\x00",
  ]) {
    expect(readName(octets(broken), 0)).toBeNull();
  }
  expect(readName(octets(`${`\x3f${"a".repeat(63)}`.repeat(4)}\x00`), 0)).toBeNull();
});

test("a name is not followed through more pointers than it could have labels", () => {
  const end = Buffer.from("\x03net\x00", "latin1");
  const pointers = (count: number) =>
    Buffer.concat([
      end,
      ...Array.from({ length: count }, (_, nth) => {
        const to = nth === 0 ? 0 : end.length + 2 * (nth - 1);
        return Buffer.from([0xc0 | (to >> 8), to & 0xff]);
      }),
    ]);
  expect(readName(pointers(127), end.length + 2 * 126)).toBe("net");
  expect(readName(pointers(128), end.length + 2 * 127)).toBeNull();
});

test("a name with octets that no host name has stays distinct, and is never queried", () => {
  const message = Buffer.from("\x05a.com\x00\x03\xe4\x00\\\x00", "latin1");
  const names = [readName(message, 0), readName(message, 7)];
  expect(names).toEqual(["a\\046com", "\\228\\000\\092"]);
  expect(names.map((odd) => isEncodable(odd ?? ""))).toEqual([false, false]);
});
