import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

/** Panels of which one is shown; arrow keys go from tab to tab. */
export function Tabs<Name extends string>({
  label,
  names,
  chosen,
  onChoose,
  aside,
  children,
}: {
  readonly label: string;
  readonly names: readonly (readonly [Name, string])[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
  /** Stands at the end of the line of tabs. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const step = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = names.findIndex(([name]) => name === chosen);
    const next = names[(at + by + names.length) % names.length];
    if (next === undefined) return;
    onChoose(next[0]);
    const tabs = list.current?.querySelectorAll<HTMLButtonElement>("[role=tab]");
    tabs?.[names.indexOf(next)]?.focus();
  };
  return (
    <div class="tabs">
      <div class="tabs-line">
        <div role="tablist" aria-label={label} ref={list} onKeyDown={step}>
          {names.map(([name, text]) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`${id}-${name}`}
              aria-selected={name === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={name === chosen ? 0 : -1}
              onClick={() => onChoose(name)}
            >
              {text}
            </button>
          ))}
        </div>
        {aside}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </div>
  );
}
