import { expect, test } from "bun:test";
import { NO_DOMAIN } from "../../src/batch/messages.ts";
import { createDomainNumberings } from "../../src/jobs/chunks/domain-numberings.ts";
import { type AddressParser, createAddressParser } from "../../src/verification/email/address.ts";

const make = (parser: AddressParser = createAddressParser()) => {
  const numberings = createDomainNumberings(parser, 7);
  return (name: string, ...items: readonly string[]) => {
    const { chunk, place } = numberings.make(name, "email", items, new Uint32Array(0));
    return { domains: chunk.newDomains, numbers: [...(chunk.domainNumbers ?? [])], ...place };
  };
};

test("a chunk of a job lists only domains that no earlier chunk has listed, and continues their numbers", () => {
  const chunkOf = make();
  const first = chunkOf("job_1", "a@one.com", "b@two.com", "no address");
  expect(first).toMatchObject({
    domains: "one.com\ntwo.com",
    numbers: [0, 1, NO_DOMAIN],
    domainsBefore: 0,
  });
  const second = chunkOf("job_1", "c@two.com", "d@three.com");
  expect(second).toEqual({ id: first.id, domains: "three.com", numbers: [1, 2], domainsBefore: 2 });
  const other = chunkOf("job_2", "c@two.com");
  expect(other).toMatchObject({ domains: "two.com", numbers: [0], domainsBefore: 0 });
  expect(other.id).not.toBe(first.id);
});

test("after a chunk that could not be made, domains are numbered from the start", () => {
  const well = createAddressParser();
  let breaks = false;
  const chunkOf = make({
    ...well,
    mailDomainIn(source, start, end) {
      if (breaks && source.startsWith("bad")) throw new Error("breaks for the test");
      return well.mailDomainIn(source, start, end);
    },
  });
  const before = chunkOf("job_1", "a@one.com");
  breaks = true;
  expect(() => chunkOf("job_1", "a@two.com", "bad@three.com")).toThrow("breaks for the test");
  const after = chunkOf("job_1", "b@one.com", "a@two.com");
  expect(after).toMatchObject({ domains: "one.com\ntwo.com", numbers: [0, 1], domainsBefore: 0 });
  expect(after.id).not.toBe(before.id);
});

test("a thread holds a bounded number of domains, and of jobs", () => {
  const chunkOf = make();
  const first = chunkOf("job_1", "a@one.com");
  const many = Array.from({ length: 16_384 }, (_, n) => `a@d${n}.com`);
  expect(chunkOf("job_1", ...many).id).toBe(first.id);
  const anew = chunkOf("job_1", "b@one.com");
  expect(anew).toMatchObject({ domains: "one.com", domainsBefore: 0 });
  for (let job = 2; job <= 9; job += 1) chunkOf(`job_${job}`, "a@one.com");
  expect(chunkOf("job_1", "b@one.com").domains).toBe("one.com");
});
