import type { EmailResultBody } from "../../contract/specification/email-replies.ts";

/** What is found of one address. Spelled as on the wire, because the worker threads write it out as text. */
export type EmailVerification = EmailResultBody;
