import type { ComponentChildren } from "preact";

/** A form that the page sends itself. */
export function Form({
  class: look = "stack",
  onSubmit,
  children,
}: {
  readonly class?: string;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    <form
      class={look}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
