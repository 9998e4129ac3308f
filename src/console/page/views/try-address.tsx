import { useState } from "preact/hooks";
import { Check } from "../parts/check.tsx";
import { TextField } from "../parts/text-field.tsx";
import { wordsOf } from "../text/format.ts";
import type { EmailResult } from "../wire/bodies.ts";
import { AddressResult } from "./address-result.tsx";
import { CheckForm } from "./check-form.tsx";
import { useCheck } from "./use-check.ts";

/** Checks one address. */
export function TryAddress() {
  const [email, setEmail] = useState("");
  const [isDeep, setDeep] = useState(false);
  const form = useCheck<EmailResult>();
  const verify = (address: string) => {
    setEmail(address);
    void form.check(
      { path: "/v1/email/verify", body: { email: address, ...(isDeep ? { deep: true } : {}) } },
      ({ status, score }) => `${wordsOf(status)}, score ${score}`,
    );
  };
  return (
    <CheckForm
      of={form}
      act="Verify"
      beside={
        <Check checked={isDeep} onChecked={setDeep}>
          Look up SPF and DMARC, too (2 units)
        </Check>
      }
      onSubmit={() => verify(email)}
      result={(result) => <AddressResult result={result} onSuggestion={verify} />}
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
    </CheckForm>
  );
}
