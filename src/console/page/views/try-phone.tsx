import { useState } from "preact/hooks";
import { Badge } from "../parts/badge.tsx";
import { Facts } from "../parts/facts.tsx";
import { Failure } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { wordsOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { PhoneResult } from "../wire/bodies.ts";
import { CheckFrame } from "./check-frame.tsx";
import { useCheck } from "./use-check.ts";

/** Checks one phone number. */
export function TryPhone() {
  const [phone, setPhone] = useState("");
  const [country, setCountry] = useState("");
  const { checked, failure, isRunning, check } = useCheck<PhoneResult>();
  const validate = (event: Event) => {
    event.preventDefault();
    const body = { phone, ...(country.trim() === "" ? {} : { country: country.trim() }) };
    void check({ path: "/v1/phone/validate", body }, ({ valid }) => (valid ? "Valid" : "Invalid"));
  };
  return (
    <div class="stack">
      <form class="stack ask" onSubmit={validate}>
        <div class="fields">
          <TextField
            label="Phone number"
            type="tel"
            value={phone}
            onValue={setPhone}
            placeholder="+55 11 96123-4567"
            autocomplete="off"
            required
          />
          <TextField
            label="Country"
            value={country}
            onValue={setCountry}
            placeholder="BR or 55"
            autocomplete="off"
            hint="Where the number has no international prefix."
          />
        </div>
        <div class="row">
          <button type="submit" class="button primary" disabled={isRunning}>
            Validate
          </button>
        </div>
      </form>
      <Failure message={failure} />
      {checked === null ? null : (
        <CheckFrame checked={checked}>
          <Result result={checked.result} />
        </CheckFrame>
      )}
    </div>
  );
}

function Result({ result }: { readonly result: PhoneResult }) {
  const { valid, reason, international, national, e164, country, type, timezones, original_carrier } = result;
  return (
    <div class="stack">
      <div class="verdict">
        <Badge word={valid ? "valid" : "invalid"} />
        <code>{visible(result.phone)}</code>
      </div>
      <p>
        {valid
          ? "The numbering plan has such numbers."
          : `Not a number that can be called: ${(reason ?? "").replaceAll("_", " ")}.`}
      </p>
      <Facts
        facts={[
          ["International", international],
          ["National", national],
          ["E.164", e164],
          ["Country", country],
          ["Kind", type === null ? null : wordsOf(type)],
          ["Time zones", timezones.join(", ")],
          ["First carrier", original_carrier],
        ]}
      />
    </div>
  );
}
