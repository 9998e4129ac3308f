import { Type } from "@sinclair/typebox";
import { ERRORS, type ErrorCode } from "../../errors.ts";
import { type Body, count, moment, nullable, text, word } from "../reply-schema.ts";

/** A refusal: these two keys and no others, on every reply outside 2xx and 3xx. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.Unsafe<ErrorCode>(Type.String({ enum: Object.keys(ERRORS) })),
      message: text("One sentence on what was wrong; not meant for machines."),
    }),
  },
  { $id: "Error" },
);

export const Alive = Type.Object({ status: Type.Literal("alive") }, { $id: "Alive" });
export const Ready = Type.Object({ status: Type.Literal("ready") }, { $id: "Ready" });

const PartHealth = Type.Object(
  {
    status: word(["pass", "warn", "fail"], "`fail` where calls cannot be answered or charged."),
    observed: nullable(Type.Number(), "What was measured."),
    unit: nullable(Type.String(), "What it was measured in."),
    output: Type.Optional(text("What is wrong.")),
    time: moment("When it was checked."),
  },
  { $id: "PartHealth" },
);

export const Health = Type.Object(
  {
    status: word(["healthy", "degraded", "failing"], "`degraded` still answers and charges."),
    version: text("The version of the server."),
    uptime_s: count("Seconds since the start."),
    checks: Type.Unsafe<{ readonly [part: string]: Body<typeof PartHealth> }>(
      Type.Object({
        database: PartHealth,
        dns: PartHealth,
        worker_pool: PartHealth,
        directory: PartHealth,
        disk: PartHealth,
        job_queue: PartHealth,
        store_space: PartHealth,
      }),
    ),
  },
  { $id: "Health" },
);
export type HealthBody = Body<typeof Health>;
/** What a check of one part found. `fail` means that calls cannot be answered or charged. */
export type CheckResult = Omit<Body<typeof PartHealth>, "time">;
