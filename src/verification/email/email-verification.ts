import type { EmailResultBody } from "../../contract/specification/email-replies.ts";

/** The result for an address, in wire spelling, as the worker threads serialise it. */
export type EmailVerification = EmailResultBody;
