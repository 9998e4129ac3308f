import type { ComponentChildren } from "preact";
import { Field } from "./field.tsx";

/** One of several values, as a list that opens. */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onValue,
  hint,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onValue: (value: Value) => void;
  readonly hint?: ComponentChildren;
}) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(ids) => (
        <select
          {...ids}
          value={value}
          onChange={({ currentTarget }) => {
            const chosen = options[currentTarget.selectedIndex];
            if (chosen !== undefined) onValue(chosen[0]);
          }}
        >
          {options.map(([word, text]) => (
            <option key={word} value={word} selected={word === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
