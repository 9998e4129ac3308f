import { useState } from "preact/hooks";
import { Facts } from "../parts/facts.tsx";
import { TextField } from "../parts/text-field.tsx";
import { wordsOf } from "../text/format.ts";
import type { PhoneResult } from "../wire/bodies.ts";
import { CheckForm } from "./check-form.tsx";
import { useCheck } from "./use-check.ts";
import { VerdictHead } from "./verdict-head.tsx";

/** Checks one phone number. */
export function TryPhone() {
  const [phone, setPhone] = useState("");
  const [country, setCountry] = useState("");
  const form = useCheck<PhoneResult>();
  const validate = () => {
    const body = { phone, ...(country.trim() === "" ? {} : { country: country.trim() }) };
    void form.check({ path: "/v1/phone/validate", body }, ({ valid }) => (valid ? "Valid" : "Invalid"));
  };
  return (
    <CheckForm of={form} act="Validate" onSubmit={validate} result={(result) => <Result result={result} />}>
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
    </CheckForm>
  );
}

function Result({ result }: { readonly result: PhoneResult }) {
  const { valid, reason, international, national, e164, country, type, timezones, original_carrier } = result;
  return (
    <div class="stack">
      <VerdictHead
        word={valid ? "valid" : "invalid"}
        item={result.phone}
        sentence={
          valid
            ? "The numbering plan has such numbers."
            : `Not a number that can be called: ${(reason ?? "").replaceAll("_", " ")}.`
        }
      />
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
