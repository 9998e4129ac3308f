import type { ComponentChildren } from "preact";

/** A box to tick, with its words. */
export function Check({
  checked,
  onChecked,
  children,
}: {
  readonly checked: boolean;
  readonly onChecked: (checked: boolean) => void;
  readonly children: ComponentChildren;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  );
}
