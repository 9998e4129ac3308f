import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A part of a view under its own heading. */
export function Card({
  title,
  aside,
  wide = false,
  children,
}: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class={wide ? "card wide" : "card"} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
