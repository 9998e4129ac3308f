import type { ComponentChildren } from "preact";

/** Names with their values: each at an end of its line, or in a wide card one beside another. */
export function Facts({
  facts,
  isWide = false,
}: {
  readonly facts: readonly (readonly [string, ComponentChildren])[];
  readonly isWide?: boolean;
}) {
  return (
    <dl class={isWide ? "facts abreast" : "facts"}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === null || value === undefined || value === "" ? "–" : value}</dd>
        </div>
      ))}
    </dl>
  );
}
