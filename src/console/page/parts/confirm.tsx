import type { ComponentChildren } from "preact";
import { useAction } from "../state/use-action.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./notice.tsx";

/** Asks before something is done that cannot be undone. */
export function Confirm({
  title,
  act,
  onAct,
  onClose,
  isDangerous = true,
  children,
}: {
  readonly title: string;
  /** What the button says. */
  readonly act: string;
  readonly onAct: () => Promise<void>;
  readonly onClose: () => void;
  readonly isDangerous?: boolean;
  readonly children: ComponentChildren;
}) {
  const action = useAction();
  const confirm = () =>
    action.run(async () => {
      await onAct();
      onClose();
    });
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        {children}
        <Failure message={action.failure} />
        <div class="row end">
          <Button onPress={onClose}>Back</Button>
          <Button look={isDangerous ? "danger" : "primary"} isOff={action.isRunning} onPress={confirm}>
            {act}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
