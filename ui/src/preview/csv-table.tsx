import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { parseCsv } from "../blobs/csv.ts";

/** Rows that are shown; further ones are left out. */
const rowsMax = 500;

/** Shows a CSV text as a table. */
export function CsvTable({
  text,
  separator,
}: {
  readonly text: string;
  readonly separator: string;
}): JSX.Element {
  const rows = useMemo(() => parseCsv(text, { separator, rowsMax: rowsMax + 1 }), [text]);
  const [head = [], ...body] = rows;
  return (
    <div class="table-wrap" tabIndex={0} role="region" aria-label="Rows">
      <table class="plain-table data">
        <thead>
          <tr>
            {head.map((title, index) => (
              <th key={index} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.slice(0, rowsMax).map((row, index) => (
            <tr key={index}>
              {row.map((value, column) => (
                <td key={column}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {body.length >= rowsMax && <p class="soft">First {rowsMax} rows.</p>}
    </div>
  );
}
