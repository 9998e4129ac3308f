import { autodetect } from "../documents/autodetect.ts";
import type { AutodetectResult, DocumentType, IdentityResult } from "../documents/outcome.ts";
import {
  autodetectFailed,
  checkFailed as documentCheckFailed,
  validateDocument,
} from "../documents/registry.ts";
import type { DomainFacts } from "../email/domain-facts.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { isEmailCharged, isOutcomeCharged } from "../metering/units.ts";
import type { PhoneResult } from "../phone/phone-number.ts";
import { type ItemJudge, judgeItems, type Verdict } from "./judge.ts";
import type { JudgeOutcome, JudgeTask } from "./messages.ts";
