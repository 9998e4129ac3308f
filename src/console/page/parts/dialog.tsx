import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
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

/** A dialog over the page: the rest waits, Escape closes it. */
export function Dialog({ title, onClose, children }: DialogOptions) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
