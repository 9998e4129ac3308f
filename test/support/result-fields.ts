/** The fields of results in the order in which they are written: the contract's, and not taken from the code. */
export const EMAIL_FIELDS = [
  "email",
  "status",
  "sub_status",
  "score",
  "normalized",
  "has_mx",
  "mx_hosts",
  "is_disposable",
  "is_role",
  "is_free_provider",
  "gibberish_score",
  "did_you_mean",
  "reasons",
];

export const IDENTITY_FIELDS = [
  "type",
  "value",
  "valid",
  "reason",
  "message",
  "normalized",
  "formatted",
  "country",
  "strength",
  "warnings",
  "data_version",
  "details",
];
