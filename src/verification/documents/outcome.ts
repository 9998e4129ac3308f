import type {
  CandidateBody,
  DetailsByType,
  UndetectedBody,
} from "../../contract/specification/verification/identity-replies.ts";
import type {
  DocumentType,
  IdentityReason,
  IdentityStrength,
  IdentityWarning,
} from "../../contract/words.ts";

/** The result of a document check, in wire spelling, as the worker threads serialise it. */
export type Outcome<T extends DocumentType> = {
  readonly type: T;
  /** As given; a card number is masked. */
  readonly value: string;
  readonly valid: boolean;
  /** Null exactly where `valid`. */
  readonly reason: IdentityReason | null;
  readonly message: string | null;
  readonly normalized: string | null;
  readonly formatted: string | null;
  readonly country: string | null;
  readonly strength: IdentityStrength;
  readonly warnings: readonly IdentityWarning[];
  readonly data_version: string | null;
  readonly details: DetailsByType[T];
};

export type IdentityResult = { [T in DocumentType]: Outcome<T> }[DocumentType];

/** The result where no type was detected. */
export type UndetectedResult = UndetectedBody;

export type Candidate = CandidateBody;

/** The result of the detected type, if any, with the candidates by descending confidence, the detected type first. */
export type AutodetectResult = (IdentityResult | UndetectedResult) & {
  readonly detected: DocumentType | null;
  /** 0 to 1. */
  readonly confidence: number;
  readonly candidates: readonly Candidate[];
};

export type NationalCheck = "pass" | "fail" | "not_checked";

export type Ean13Class = "product" | "restricted" | "coupon" | "refund" | "issn" | "isbn" | "ismn";

/** What was read from a value, valid or not. */
export type Finding<T extends DocumentType> = Pick<
  Outcome<T>,
  "normalized" | "formatted" | "country" | "strength" | "warnings" | "data_version" | "details"
>;

/** Shared, and not frozen, like every list within results: a frozen one makes the JSON of a chunk twice as slow. */
export const NO_WARNINGS: readonly IdentityWarning[] = [];

export function passed<T extends DocumentType>(type: T, value: string, finding: Finding<T>): Outcome<T> {
  return outcomeOf(type, value, null, null, finding);
}

export function failed<T extends DocumentType>(
  type: T,
  value: string,
  reason: IdentityReason,
  message: string,
  finding: Finding<T>,
): Outcome<T> {
  return outcomeOf(type, value, reason, message, finding);
}

function outcomeOf<T extends DocumentType>(
  type: T,
  value: string,
  reason: IdentityReason | null,
  message: string | null,
  finding: Finding<T>,
): Outcome<T> {
  return {
    type,
    value,
    valid: reason === null,
    reason,
    message,
    normalized: finding.normalized,
    formatted: finding.formatted,
    country: finding.country,
    strength: finding.strength,
    warnings: finding.warnings,
    data_version: finding.data_version,
    details: finding.details,
  };
}

/**
 * Returns the result where no type was detected, with a reason and a message where the value could not be read. The
 * caller masks the value.
 */
export function undetected(
  value: string,
  { reason, message }: Pick<UndetectedResult, "reason" | "message"> = { reason: null, message: null },
): UndetectedResult {
  return {
    type: null,
    value,
    valid: false,
    reason,
    message,
    normalized: null,
    formatted: null,
    country: null,
    strength: null,
    warnings: NO_WARNINGS,
    data_version: null,
    details: null,
  };
}
