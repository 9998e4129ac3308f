import type { EmailResultBody } from "../../contract/specification/verification/email-replies.ts";

/** The result for an address, in wire spelling, as the worker threads serialise it. */
export type EmailVerification = EmailResultBody;
