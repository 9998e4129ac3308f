import { useState } from "preact/hooks";
import { Check } from "../parts/check.tsx";
import { Failure } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { wordsOf } from "../text/format.ts";
import type { EmailResult } from "../wire/bodies.ts";
import { AddressResult } from "./address-result.tsx";
import { CheckFrame } from "./check-frame.tsx";
import { useCheck } from "./use-check.ts";

/** Checks one address. */
export function TryAddress() {
  const [email, setEmail] = useState("");
  const [isDeep, setDeep] = useState(false);
  const { checked, failure, isRunning, check } = useCheck<EmailResult>();
  const verify = (address: string) => {
    setEmail(address);
    void check(
      { path: "/v1/email/verify", body: { email: address, ...(isDeep ? { deep: true } : {}) } },
      ({ status, score }) => `${wordsOf(status)}, score ${score}`,
    );
  };
  return (
    <div class="stack">
      <form
        class="stack ask"
        onSubmit={(event) => {
          event.preventDefault();
          verify(email);
        }}
      >
        <TextField
          label="Email address"
          value={email}
          onValue={setEmail}
          placeholder="ann@example.com"
          autocomplete="off"
          inputMode="email"
          required
        />
        <div class="row">
          <button type="submit" class="button primary" disabled={isRunning}>
            Verify
          </button>
          <Check checked={isDeep} onChecked={setDeep}>
            Look up SPF and DMARC, too (2 units)
          </Check>
        </div>
      </form>
      <Failure message={failure} />
      {checked === null ? null : (
        <CheckFrame checked={checked}>
          <AddressResult result={checked.result} onSuggestion={verify} />
        </CheckFrame>
      )}
    </div>
  );
}
