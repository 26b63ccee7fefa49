import { readAvro } from "../preview/avro.ts";
import { done, failed, type Result } from "../result.ts";
import { pathOf, stateQuery, type BlobAddress } from "./blob.ts";
import { request } from "./request.ts";

type Row = Readonly<Record<string, unknown>>;

/** A record of the response: a part of the result, or an error. */
interface ResponseRecord {
  /** Hexadecimal, as `readAvro` returns bytes. */
  readonly data?: string;
  readonly fatal?: boolean;
  readonly name?: string;
  readonly description?: string;
}

/** Records of one response. The server sends results in parts of some KiB. */
const recordsMax = 10_000;

/** The first rows of a Parquet file, decoded by the server (Query Blob Contents). */
export async function queryParquet(
  address: BlobAddress,
  { rowsMax, signal }: { readonly rowsMax: number; readonly signal: AbortSignal },
): Promise<Result<readonly Row[]>> {
  const answer = await request("blob", pathOf(address), {
    method: "POST",
    query: { comp: "query", ...stateQuery(address) },
    headers: { "content-type": "application/xml" },
    body:
      "<QueryRequest><QueryType>SQL</QueryType>" +
      `<Expression>SELECT * FROM BlobStorage LIMIT ${rowsMax}</Expression>` +
      "<InputSerialization><Format><Type>parquet</Type></Format></InputSerialization>" +
      "<OutputSerialization><Format><Type>json</Type><JsonTextConfiguration>" +
      "<RecordSeparator>\n</RecordSeparator></JsonTextConfiguration></Format>" +
      "</OutputSerialization></QueryRequest>",
    signal,
  });
  if (!answer.ok) return answer;
  try {
    const { rows } = await readAvro(new Uint8Array(answer.value.body), recordsMax);
    return parsed(rows as readonly ResponseRecord[]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return failed({ status: 400, code: "NotShown", message });
  }
}

function parsed(records: readonly ResponseRecord[]): Result<readonly Row[]> {
  const fatal = records.find((each) => each.fatal === true);
  if (fatal !== undefined) {
    const message = `${fatal.name}: ${fatal.description}`;
    return failed({ status: 400, code: "NotShown", message });
  }
  const text = textOf(records.map(({ data = "" }) => data).join(""));
  const lines = text.split("\n").filter((line) => line !== "");
  return done(lines.map((line) => JSON.parse(line) as Row));
}

function textOf(hex: string): string {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  }
  return new TextDecoder().decode(bytes);
}
