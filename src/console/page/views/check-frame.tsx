import type { ComponentChildren } from "preact";
import { nounOf } from "../../../contract/noun.ts";
import { Card } from "../parts/card.tsx";
import { Samples } from "../parts/samples.tsx";
import { countOf } from "../text/format.ts";
import { samplesOf } from "../text/samples.ts";
import type { Checked } from "./use-check.ts";

/** The result of a check beside the call that made it. */
export function CheckFrame<Result>({
  checked,
  children,
}: {
  readonly checked: Checked<Result>;
  readonly children: ComponentChildren;
}) {
  const { call, result, units } = checked;
  return (
    <div class="halves">
      <Card title="Result" aside={<span class="muted">{`${countOf(units)} ${nounOf(units, "unit")}`}</span>}>
        {children}
      </Card>
      <Card title="API call">
        <Samples samples={samplesOf(location.origin, call)} />
        <details>
          <summary>Full response</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard */}
          <pre tabIndex={0}>
            <code>{JSON.stringify(result, null, 2)}</code>
          </pre>
        </details>
      </Card>
    </div>
  );
}
