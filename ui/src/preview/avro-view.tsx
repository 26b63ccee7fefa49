import type { JSX } from "preact";
import { bytes, plural } from "../format.ts";
import { useLoad } from "../load.ts";
import { PlainTable } from "../parts/plain-table.tsx";
import { Failed, Waiting } from "../parts/states.tsx";
import { done, failed, type Result } from "../result.ts";
import { readAvro, type AvroContent } from "./avro.ts";

const readBytesMax = 1024 * 1024;
const rowsMax = 200;

interface AvroViewProps {
  /** Identifies the content: another one is loaded if it changes. */
  readonly of: string;
  readonly length: number;
  readonly read: (
    bytesMax: number,
    signal: AbortSignal,
  ) => Promise<Result<Uint8Array<ArrayBuffer>>>;
}

async function load({ read }: AvroViewProps, signal: AbortSignal): Promise<Result<AvroContent>> {
  const content = await read(readBytesMax, signal);
  if (!content.ok) return content;
  try {
    return done(await readAvro(content.value, rowsMax));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return failed({ status: 400, code: "NotShown", message });
  }
}

/** The schema and the first rows of an Avro file. */
export function AvroView(props: AvroViewProps): JSX.Element {
  const loaded = useLoad((signal) => load(props, signal), [props.of]);
  if (loaded.failure !== undefined) {
    return <Failed what="rows" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  const { schema, rows, isCut } = loaded.value;
  const titles = [...new Set(rows.flatMap((row) => Object.keys(Object(row) as object)))];
  return (
    <>
      <p class="soft">
        {isCut ? "First " : ""}
        {plural(rows.length, "row")} of {bytes(props.length)}
      </p>
      <PlainTable
        isData
        titles={titles}
        rows={rows.map((row) =>
          titles.map((title) => shown((row as Record<string, unknown>)[title])),
        )}
      />
      <details class="section">
        <summary>Schema</summary>
        <pre class="preview-text" tabIndex={0}>
          {JSON.stringify(schema, null, 2)}
        </pre>
      </details>
    </>
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
