import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

type DialogOptions = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** A dialog that shows something and is closed by a button, too. */
export function ClosingDialog({ title, onClose, children }: DialogOptions) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        {children}
        <div class="row end">
          <Button onPress={onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}

/** A modal dialog: Escape closes it, and the focus then returns to where it was. */
export function Dialog({ title, onClose, children }: DialogOptions) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      // While it is open, the page behind it takes no focus.
      isGone.current = true;
      dialog?.close();
      focusAgain(before);
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={() => isGone.current || onClose()}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Returns the focus to where it was: keyboards and screen readers would otherwise start at the top of the page. */
function focusAgain(before: Element | null): void {
  const next = before?.isConnected === true ? before : document.getElementById("main");
  if (next instanceof HTMLElement) next.focus();
}
