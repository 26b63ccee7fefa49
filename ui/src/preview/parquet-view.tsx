import type { JSX } from "preact";
import { readSchema, type SchemaElement } from "../../../src/blob/query/parquet/metadata.ts";
import { bytes, count, plural } from "../format.ts";
import { useLoad } from "../load.ts";
import { PlainTable } from "../parts/plain-table.tsx";
import { Empty, Failed, Waiting } from "../parts/states.tsx";
import { done, failed, type Result } from "../result.ts";
import { readBlobEnd, type BlobAddress } from "../rest/blob.ts";
import { queryParquet } from "../rest/query-blob.ts";

const rowsMax = 200;
const footerBytesMax = 16 * 1024 * 1024;
/** The length of the footer and the letters PAR1. */
const endBytes = 8;

interface ParquetViewProps {
  readonly address: BlobAddress;
  readonly etag: string;
  readonly length: number;
}

/** The schema and the first rows of a Parquet file. */
export function ParquetView(props: ParquetViewProps): JSX.Element {
  return (
    <>
      <Rows {...props} />
      <Schema {...props} />
    </>
  );
}

function Rows({ address, etag, length }: ParquetViewProps): JSX.Element {
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
        isData
        titles={titles}
        rows={rows.map((row) => titles.map((title) => shown(row[title])))}
      />
    </>
  );
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

type FileSchema = ReturnType<typeof readSchema>;

/** Read from the end of the file, so that also files whose rows the server cannot read have one. */
function Schema(props: ParquetViewProps): JSX.Element | null {
  const { address, etag } = props;
  const loaded = useLoad((signal) => loadSchema(props, signal), [address.name, etag]);
  if (loaded.failure !== undefined) {
    return <Failed what="schema" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return null;
  const { elements, rowCount } = loaded.value;
  return (
    <details class="section">
      <summary>
        Schema: {plural(elements.length, "column")}, {count(rowCount)} rows in the file
      </summary>
      <PlainTable
        titles={["Column", "Type", "Values"]}
        rows={elements.map((element) => [
          `${"\u00a0\u00a0".repeat(element.depth)}${element.name}`,
          typeWords(element),
          element.repetition,
        ])}
      />
    </details>
  );
}

async function loadSchema(
  { address, etag, length }: ParquetViewProps,
  signal: AbortSignal,
): Promise<Result<FileSchema>> {
  const unreadable = (message: string): Result<never> =>
    failed({ status: 400, code: "NotShown", message });
  if (length < endBytes) return unreadable("the file has no footer");
  const end = await readBlobEnd(address, { length, etag, bytes: endBytes, signal });
  if (!end.ok) return end;
  const footerBytes = new DataView(end.value.buffer).getUint32(0, true);
  if (footerBytes > length - endBytes) return unreadable("the footer is longer than the file");
  if (footerBytes > footerBytesMax) return unreadable("the footer is too long to be shown");
  const wanted = { length, etag, bytes: footerBytes + endBytes, signal };
  const footer = await readBlobEnd(address, wanted);
  if (!footer.ok) return footer;
  try {
    return done(readSchema(footer.value.subarray(0, footerBytes)));
  } catch (error) {
    return unreadable(error instanceof Error ? error.message : String(error));
  }
}

/** The logical type with the physical one, as `text (bytes)`. */
function typeWords({ type, logical }: SchemaElement): string {
  if (type === undefined) return "structure";
  return logical === undefined ? type : `${logical.kind} (${type})`;
}
