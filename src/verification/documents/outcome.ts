/** What a document check answers. Spelled as on the wire, because the worker threads write it out as text. */
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

/** What is answered where a value has the shape of no document. */
export type UndetectedResult = {
  readonly type: null;
  readonly value: string;
  readonly valid: false;
  /** Null unless the value could not be looked at: over 64 characters, or our own check broke. */
  readonly reason: "length" | "check_failed" | null;
  readonly message: string | null;
  readonly normalized: null;
  readonly formatted: null;
  readonly country: null;
  readonly strength: null;
  readonly warnings: readonly IdentityWarning[];
  readonly data_version: null;
  readonly details: null;
};

export type Candidate = { readonly type: DocumentType; readonly confidence: number };

/** The winner's result, or none, with the ranking it won. Candidates come by falling confidence, the winner first. */
export type AutodetectResult = (IdentityResult | UndetectedResult) & {
  readonly detected: DocumentType | null;
  /** 0 to 1. */
  readonly confidence: number;
  readonly candidates: readonly Candidate[];
};

export type DetailsByType = {
  cpf: {
    /** The states of the fiscal region that issued it, such as `SP` or `PR, SC`. */
    readonly region: string | null;
    readonly expected_check_digits: string | null;
  };
  cnpj: {
    readonly root: string | null;
    readonly branch: string | null;
    readonly alphanumeric: boolean | null;
    readonly expected_check_digits: string | null;
  };
  iban: {
    readonly check_digits: string | null;
    readonly expected_check_digits: string | null;
    readonly bban: string | null;
    readonly bank_code: string | null;
    readonly branch_code: string | null;
    readonly account_number: string | null;
    readonly national_check: NationalCheck;
    readonly sepa: boolean | null;
  };
  vat: { readonly prefix: string | null; readonly number: string | null };
  card: {
    readonly brand: string | null;
    /** The first six digits. */
    readonly iin: string | null;
    readonly last4: string | null;
    readonly length: number | null;
    readonly cvv_length: number | null;
  };
  isbn: {
    readonly isbn10: string | null;
    readonly isbn13: string | null;
    readonly hyphenated10: string | null;
    readonly hyphenated13: string | null;
    /** The GS1 element and the registration group, such as `978-3`. */
    readonly group: string | null;
    readonly group_name: string | null;
  };
  ean13: {
    readonly gs1_prefix: string | null;
    /** Who issued the prefix, which says nothing of where the goods come from. */
    readonly issuer: string | null;
    readonly class: Ean13Class | null;
  };
  ein: {
    readonly prefix: string | null;
    /** Empty for a prefix that none assigns. */
    readonly campus: readonly string[] | null;
  };
};

export type DocumentType = "cpf" | "cnpj" | "iban" | "vat" | "card" | "isbn" | "ean13" | "ein";

export const IDENTITY_REASONS = ["format", "length", "checksum", "component", "check_failed"] as const;

export type IdentityReason = (typeof IDENTITY_REASONS)[number];

export const IDENTITY_STRENGTHS = ["format", "check_digit", "two_check_digits", "mod97"] as const;

/** How much arithmetic stands behind `valid`. */
export type IdentityStrength = (typeof IDENTITY_STRENGTHS)[number];

export const IDENTITY_WARNINGS = [
  "test_number",
  "unknown_issuer",
  "restricted_prefix",
  "legacy_length",
  "unassigned_range",
  "check_digit_mismatch",
  "qr_iban",
] as const;

/** A finding that leaves the number valid. */
export type IdentityWarning = (typeof IDENTITY_WARNINGS)[number];

export type NationalCheck = "pass" | "fail" | "not_checked";

export type Ean13Class = "product" | "restricted" | "coupon" | "refund" | "issn" | "isbn" | "ismn";

/** What was read out of a value, whether it is valid or not. */
export type Finding<T extends DocumentType> = Pick<
  Outcome<T>,
  "normalized" | "formatted" | "country" | "strength" | "warnings" | "data_version" | "details"
>;

/** One type of document by the verbs all of them share. All are pure and total. */
export type DocumentCheck<T extends DocumentType> = {
  /** Drops the type's separators and folds case and width; null where nothing of the type's can be read. */
  readonly compact: (value: string) => string | null;
  readonly validate: (value: string) => Outcome<T>;
  /** Writes a compact form as is customary. Meant for what `compact` and `validate` let through. */
  readonly format: (compact: string) => string;
  /** What is known of a number before it is read. */
  readonly unread: Finding<T>;
};

export const NO_WARNINGS: readonly IdentityWarning[] = Object.freeze([]);

export function passed<T extends DocumentType>(type: T, value: string, finding: Finding<T>): Outcome<T> {
  return {
    type,
    value,
    valid: true,
    reason: null,
    message: null,
    normalized: finding.normalized,
    formatted: finding.formatted,
    country: finding.country,
    strength: finding.strength,
    warnings: finding.warnings,
    data_version: finding.data_version,
    details: finding.details,
  };
}

export function failed<T extends DocumentType>(
  type: T,
  value: string,
  reason: IdentityReason,
  message: string,
  finding: Finding<T>,
): Outcome<T> {
  return {
    type,
    value,
    valid: false,
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
 * The answer where no type of document was recognised, with what kept the value from being looked at, if
 * anything did. The value is to be masked by the caller.
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
