import type { ComponentChildren } from "preact";
import { Check } from "./check.tsx";

/** A choice of several words, each with its text. */
export function CheckList({
  label,
  options,
  chosen,
  onChosen,
  isWide = false,
}: {
  readonly label: string;
  readonly options: readonly (readonly [string, ComponentChildren])[];
  readonly chosen: readonly string[];
  readonly onChosen: (chosen: readonly string[]) => void;
  /** Side by side. */
  readonly isWide?: boolean;
}) {
  const checks = options.map(([word, text]) => (
    <Check
      key={word}
      checked={chosen.includes(word)}
      onChecked={(isChosen) =>
        onChosen(isChosen ? [...chosen, word] : chosen.filter((each) => each !== word))
      }
    >
      {text}
    </Check>
  ));
  return (
    <fieldset class="checks-field">
      <legend>{label}</legend>
      {isWide ? <div class="fields">{checks}</div> : checks}
    </fieldset>
  );
}
