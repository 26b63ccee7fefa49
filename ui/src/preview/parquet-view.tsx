import type { JSX } from "preact";
import { bytes, plural } from "../format.ts";
import { useLoad } from "../load.ts";
import { PlainTable } from "../parts/plain-table.tsx";
import { Empty, Failed, Waiting } from "../parts/states.tsx";
import type { BlobAddress } from "../rest/blob.ts";
import { queryParquet } from "../rest/query-blob.ts";

const rowsMax = 200;

interface ParquetViewProps {
  readonly address: BlobAddress;
  readonly etag: string;
  readonly length: number;
}

/** The columns and the first rows of a Parquet file. */
export function ParquetView({ address, etag, length }: ParquetViewProps): JSX.Element {
  const loaded = useLoad(
    (signal) => queryParquet(address, { rowsMax, signal }),
    [address.name, etag],
  );
  if (loaded.failure !== undefined) {
    return <Failed what="rows" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  const rows = loaded.value;
  if (rows === undefined) return <Waiting />;
  if (rows.length === 0) return <Empty>No rows</Empty>;
  const titles = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <>
      <p class="soft">
        {rows.length === rowsMax ? "First " : ""}
        {plural(rows.length, "row")} of {bytes(length)}
      </p>
      <PlainTable
        titles={titles}
        rows={rows.map((row) => titles.map((title) => shown(row[title])))}
      />
      <details class="section">
        <summary>Columns</summary>
        <PlainTable
          titles={["Column", "Values"]}
          rows={titles.map((title) => [title, kindsOf(rows.map((row) => row[title]))])}
        />
      </details>
    </>
  );
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What the shown rows have in a column. */
function kindsOf(values: readonly unknown[]): string {
  const kinds = values.map((value) => {
    if (value === undefined || value === null) return "null";
    if (Array.isArray(value)) return "list";
    return kindNames[typeof value] ?? "object";
  });
  return [...new Set(kinds)].toSorted().join(", ");
}

const kindNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "number",
  boolean: "true or false",
};
