import type { Preview } from "../reading/messages.ts";
import { visible } from "../text/visible.ts";

/** The first rows of a file, the column of the items marked. */
export function ListPreview({
  preview: { columns, rows, hasHeader },
  column,
}: {
  readonly preview: Preview;
  readonly column: number | null;
}) {
  return (
    <div class="stack preview">
      <h3>First rows</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard */}
      <section class="table" aria-label="First rows" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((name, at) => (
                <th key={at} scope="col" class={at + 1 === column ? "chosen" : undefined}>
                  {hasHeader ? visible(name) : `Column ${at + 1}`}
                  {at + 1 === column ? <span class="unseen"> (the items)</span> : null}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, line) => (
              <tr key={line}>
                {columns.map((_, at) => (
                  <td key={at} class={at + 1 === column ? "chosen" : undefined}>
                    <span class="cell">{visible(row[at] ?? "")}</span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
