import type { ComponentChildren } from "preact";

/** A button that does something on the page. */
export function Button({
  look = "",
  label,
  isOff = false,
  onPress,
  children,
}: {
  readonly look?: "" | "primary" | "danger" | "link" | "small" | "small danger";
  /** What it is called where its words alone do not say what it is about. */
  readonly label?: string | undefined;
  readonly isOff?: boolean;
  readonly onPress: () => unknown;
  readonly children: ComponentChildren;
}) {
  return (
    <button
      type="button"
      class={look === "" ? "button" : `button ${look}`}
      {...(label === undefined ? {} : { "aria-label": label })}
      disabled={isOff}
      onClick={() => {
        onPress();
      }}
    >
      {children}
    </button>
  );
}
