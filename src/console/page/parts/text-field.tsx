import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { Field } from "./field.tsx";

type TextFieldOptions = {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly type?: "text" | "email" | "password" | "search" | "url" | "number" | "date" | "tel";
} & Pick<
  InputHTMLAttributes<HTMLInputElement>,
  | "placeholder"
  | "required"
  | "autocomplete"
  | "min"
  | "max"
  | "step"
  | "maxLength"
  | "name"
  | "inputMode"
  | "pattern"
>;

export function TextField({ label, value, onValue, hint, type = "text", ...attributes }: TextFieldOptions) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(ids) => (
        <input
          {...ids}
          {...attributes}
          // All kinds of fields take the same attributes; the type of one of them stands for all.
          type={type as "text"}
          value={value}
          spellcheck={false}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}
