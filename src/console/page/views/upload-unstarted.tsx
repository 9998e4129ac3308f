import { useEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { FailedReading, Failure, Notice } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useAction } from "../state/use-action.ts";
import { useReturns } from "../state/use-returns.ts";
import { visible } from "../text/visible.ts";
import type { UploadState } from "../upload/upload-state.ts";

/** A list that is sent and not started: the start once more, or its end. */
export function UploadUnstarted({
  upload: { kept, message },
}: {
  readonly upload: Extract<UploadState, { status: "unstarted" }>;
}) {
  const { uploads } = useConsole();
  const discarding = useAction();
  return (
    <Card
      title={`${visible(kept.name)} is sent, and not started`}
      aside={<a href={hrefOf("plan")}>Plan and invoices</a>}
    >
      {message === null ? null : <Notice kind="bad">{message}</Notice>}
      <p>
        Nothing is charged until it is started. The server keeps what was sent for a day: start the list once
        it can be.
      </p>
      <Failure message={discarding.failure} />
      <div class="row">
        <Button look="primary" isOff={discarding.isRunning} onPress={uploads.start}>
          Start the list
        </Button>
        <Button
          look="small danger"
          isOff={discarding.isRunning}
          onPress={() => discarding.run(uploads.discard)}
        >
          Discard what was sent
        </Button>
      </div>
    </Card>
  );
}

/** A list that was sent when the page was loaded anew: whether it was started is read first. */
export function UploadUnknown({
  upload: { kept },
}: {
  readonly upload: Extract<UploadState, { status: "unknown" }>;
}) {
  const { uploads } = useConsole();
  const asking = useAction();
  const returns = useReturns();
  useEffect(() => {
    void asking.run(uploads.ask);
  }, [returns]);
  return (
    <Card title={`${visible(kept.name)} is sent`}>
      <p>It may have been started.</p>
      <FailedReading message={asking.failure} onAgain={() => asking.run(uploads.ask)} />
    </Card>
  );
}
