import { useState } from "preact/hooks";
import { Tabs } from "../parts/tabs.tsx";
import { TryAddress } from "./try-address.tsx";
import { TryBatch } from "./try-batch.tsx";
import { TryDocument } from "./try-document.tsx";
import { TryPhone } from "./try-phone.tsx";

const KINDS = [
  ["email", "Address"],
  ["identity", "Document"],
  ["phone", "Phone"],
  ["batch", "Batch"],
] as const;

/** One check at a time, or a short list, with what was found and the call that found it. */
export function TryView() {
  const [kind, setKind] = useState<(typeof KINDS)[number][0]>("email");
  return (
    <>
      <div class="view-head">
        <h1>Try</h1>
      </div>
      <Tabs label="What is checked" names={KINDS} chosen={kind} onChoose={setKind}>
        {kind === "email" ? <TryAddress /> : null}
        {kind === "identity" ? <TryDocument /> : null}
        {kind === "phone" ? <TryPhone /> : null}
        {kind === "batch" ? <TryBatch /> : null}
      </Tabs>
    </>
  );
}
