import { useEffect } from "preact/hooks";
import { MeterBar } from "../charts/meter-bar.tsx";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { FileDrop } from "../parts/file-drop.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import { bytesOf, percentOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import { partCountOf } from "../upload/kept-upload.ts";
import type { UploadState } from "../upload/upload-state.ts";

/** How far the upload of this tab is, and what to do where it stopped. */
export function UploadProgress({
  upload,
  onBack,
}: {
  readonly upload: UploadState;
  readonly onBack: () => void;
}) {
  const { uploads, goTo } = useConsole();
  const resuming = useAction();
  // A resumed upload runs to its end: what ends it before is an action of its own.
  const discarding = useAction();
  useEffect(() => {
    if (upload.status !== "started") return;
    uploads.clear();
    onBack();
    goTo("lists", upload.jobId);
  }, [upload]);
  const discard = () => discarding.run(uploads.discard);
  switch (upload.status) {
    case "sending":
      return <Sending upload={upload} isDiscarding={discarding.isRunning} onDiscard={discard} />;
    case "interrupted":
      return (
        <Interrupted
          upload={upload}
          failure={discarding.failure ?? resuming.failure}
          isDiscarding={discarding.isRunning}
          onFile={(file) => {
            discarding.fail(null);
            return resuming.run(() => uploads.resume(file));
          }}
          onDiscard={discard}
        />
      );
    case "failed":
      return (
        <Notice kind="bad">
          <span>The list was not started, and nothing is charged: {upload.message}</span>
          <Button look="small" onPress={uploads.clear}>
            Back to the list
          </Button>
        </Notice>
      );
    default:
      return null;
  }
}

function Sending({
  upload: { name, size, sent, isWaiting },
  isDiscarding,
  onDiscard,
}: {
  readonly upload: Extract<UploadState, { status: "sending" }>;
  readonly isDiscarding: boolean;
  readonly onDiscard: () => unknown;
}) {
  const share = size === 0 ? 1 : sent / size;
  return (
    <Card title={`Sending ${visible(name)}`}>
      <MeterBar label={`${percentOf(share)} is sent`} value={share} most={1} />
      <div class="row apart">
        <p role="status">
          {share >= 1 ? "All is sent; the server reads the rows." : `${bytesOf(sent)} of ${bytesOf(size)}`}
        </p>
        <Button look="small danger" isOff={isDiscarding} onPress={onDiscard}>
          Stop and discard
        </Button>
      </div>
      {isWaiting ? (
        <Notice kind="warn">The server does not answer; the upload goes on when it does.</Notice>
      ) : null}
    </Card>
  );
}

function Interrupted({
  upload: { kept },
  failure,
  isDiscarding,
  onFile,
  onDiscard,
}: {
  readonly upload: Extract<UploadState, { status: "interrupted" }>;
  readonly failure: string | null;
  readonly isDiscarding: boolean;
  readonly onFile: (file: File) => unknown;
  readonly onDiscard: () => unknown;
}) {
  return (
    <Card title={`The upload of ${visible(kept.name)} was interrupted`}>
      <p>
        {kept.parts.length} of {partCountOf(kept)} parts are on the server. Choose the same file to send the
        rest; a page may not open it by itself.
      </p>
      <FileDrop
        label={`Choose ${kept.name} again`}
        hint={`${bytesOf(kept.size)}; it is compared with what was sent.`}
        onFile={(file) => void onFile(file)}
      />
      <Failure message={failure} />
      <div class="row">
        <Button look="small danger" isOff={isDiscarding} onPress={onDiscard}>
          Discard what was sent
        </Button>
      </div>
    </Card>
  );
}
