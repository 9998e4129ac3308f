import { describe, expect, test } from "bun:test";
import { encode } from "dns-packet";
import { createStubResolver } from "../../src/dns/resolver.ts";

/** A server that answers when the test says so, and a resolver whose clock is moved by hand. */
async function startPatient(serverCount = 1) {
  const questions: { readonly id: number; readonly answer: () => void }[] = [];
  const sockets = await Promise.all(
    Array.from({ length: serverCount }, () =>
      Bun.udpSocket({
        hostname: "127.0.0.1",
        socket: {
          data: (socket, message, port, address) => {
            const id = message.readUInt16BE(0);
            questions.push({ id, answer: () => socket.send(replyTo(id), port, address) });
          },
        },
      }),
    ),
  );
  let now = 1_000_000;
  let readings = 0;
  const clock = {
    now: () => now,
    monotonic: () => {
      readings++;
      return now;
    },
  };
  const servers = sockets.map(({ port }) => ({ ip: "127.0.0.1", port }));
  const resolver = createStubResolver({ servers, clock });
  const reached = async (condition: () => boolean) => {
    while (!condition()) await new Promise(setImmediate);
  };
  /** Lets time pass in steps that are no sign of a busy process, each seen by the resolver. */
  const pass = async (ms: number, stepMs = 100) => {
    for (const end = now + ms; now < end; ) {
      now = Math.min(end, now + stepMs);
      const before = readings;
      await reached(() => readings > before);
    }
  };
  const close = () => {
    resolver.close();
    for (const socket of sockets) socket.close();
  };
  return { resolver, questions, reached, pass, [Symbol.dispose]: close };
}

function replyTo(id: number): Buffer {
  return encode({
    type: "response",
    id,
    flags: 0x0180,
    questions: [{ type: "MX", name: "late.com" }],
    answers: [
      {
        type: "MX",
        name: "late.com",
        ttl: 60,
        class: "IN",
        data: { preference: 1, exchange: "mx.late.com" },
      },
    ],
  });
}

describe("by default a look-up", () => {
  test.each([0, 1, 2])("accepts an answer after 3.9 s, whichever attempt it answers (%d)", async (nth) => {
    using patient = await startPatient();
    const lookup = patient.resolver.lookUp("late.com", "MX");
    await patient.pass(3900);
    await patient.reached(() => patient.questions.length === 3);
    patient.questions[nth]?.answer();
    expect((await lookup).records).toEqual([{ preference: 1, exchange: "mx.late.com" }]);
    expect(patient.resolver.stats()).toMatchObject({ queries: 3, timeouts: 0, inFlight: 0, late: 0 });
  });

  test("sends queries at 0, 400 and 1200 ms, and times out at 4 s", async () => {
    using patient = await startPatient();
    let ended = false;
    const lookup = patient.resolver.lookUp("late.com", "MX").finally(() => {
      ended = true;
    });
    await patient.pass(1150);
    await patient.reached(() => patient.questions.length === 2);
    await patient.pass(100);
    await patient.reached(() => patient.questions.length === 3);
    await patient.pass(2700);
    expect([ended, patient.questions.length]).toEqual([false, 3]);
    await patient.pass(50);
    expect((await lookup).outcome).toBe("timeout");
  });

  test("ends soon after its deadline in a process that is busy all the time", async () => {
    using patient = await startPatient();
    const lookup = patient.resolver.lookUp("late.com", "MX");
    const ended = await Promise.race([lookup, patient.pass(4500, 150)]);
    expect(ended?.outcome).toBe("timeout");
    expect(patient.questions).toHaveLength(3);
  });

  test("still accepts a reply of the first of two servers after it has tried the second", async () => {
    using patient = await startPatient(2);
    const lookup = patient.resolver.lookUp("late.com", "MX");
    await patient.pass(3000);
    patient.questions[0]?.answer();
    expect((await lookup).outcome).toBe("answer");
  });
});
