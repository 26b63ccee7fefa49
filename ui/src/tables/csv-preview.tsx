import type { JSX } from "preact";
import { Choice } from "../parts/field.tsx";
import { edmTypes, isEdmType } from "../rest/entity.ts";
import type { CsvPlan, readCsv } from "./entity-files.ts";

export type CsvFile = ReturnType<typeof readCsv>;

const rowsShownMax = 5;
const leftOut = "leave out";

interface CsvPreviewProps {
  readonly csv: CsvFile;
  readonly onPlan: (plan: CsvPlan) => void;
}

/** The first rows of a CSV file, with the keys and types that its columns become. */
export function CsvPreview({ csv, onPlan }: CsvPreviewProps): JSX.Element {
  const { head, rows, plan } = csv;
  const columns = head.filter((name) => name !== "" && !name.endsWith("@type"));
  const names = columns.map((name) => [name, name] as const);
  const hasTypes = (name: string): boolean => head.includes(`${name}@type`);
  const setType = (name: string, value: string): void => {
    const type = isEdmType(value) ? value : undefined;
    onPlan({ ...plan, types: { ...plan.types, [name]: type } });
  };
  return (
    <>
      <div class="row">
        <Choice
          label="Column of the PartitionKey"
          value={plan.partitionKey}
          options={names}
          onChange={(partitionKey) => onPlan({ ...plan, partitionKey })}
        />
        <Choice
          label="Column of the RowKey"
          value={plan.rowKey}
          options={names}
          onChange={(rowKey) => onPlan({ ...plan, rowKey })}
        />
      </div>
      <div class="table-wrap" tabIndex={0} role="region" aria-label="First rows">
        <table class="plain-table">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                  <br />
                  <ColumnType
                    name={name}
                    plan={plan}
                    hasTypes={hasTypes(name)}
                    onChange={(value) => setType(name, value)}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, rowsShownMax).map((row, index) => (
              <tr key={index}>
                {columns.map((name) => (
                  <td key={name}>{row[head.indexOf(name)]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface ColumnTypeProps {
  readonly name: string;
  readonly plan: CsvPlan;
  /** Whether the file has the types of this column. */
  readonly hasTypes: boolean;
  readonly onChange: (value: string) => void;
}

function ColumnType({ name, plan, hasTypes, onChange }: ColumnTypeProps): JSX.Element {
  if (name === plan.partitionKey || name === plan.rowKey) return <span class="soft">key</span>;
  if (hasTypes) return <span class="soft">types of the file</span>;
  return (
    <select
      aria-label={`Type of ${name}`}
      value={plan.types[name] ?? leftOut}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      {[...edmTypes, leftOut].map((type) => (
        <option key={type} value={type}>
          {type.replace("Edm.", "")}
        </option>
      ))}
    </select>
  );
}
