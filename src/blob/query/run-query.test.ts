import { newLoopShare } from "../../base/loop-share.ts";
import { realClock } from "../../host/world.ts";
import { describe, expect, it } from "vitest";
import { tableFromIPC } from "apache-arrow";
import { parseXml } from "../../encoding/xml.ts";
import { parseQueryRequest } from "./query-blob.ts";
import { runQuery } from "./run-query.ts";

const marker = new Uint8Array(16).fill(0xee);

type Framed = readonly [kind: "data" | "error" | "progress" | "end", bytes: Buffer];
const kinds = ["data", "error", "progress", "end"] as const;

/** The records of a result stream, one in each block. */
function recordsIn(stream: Buffer): readonly Framed[] {
  const found: Framed[] = [];
  let at = stream.indexOf(marker) + marker.length;
  while (at < stream.length) {
    const count = longAt(stream, at);
    const size = longAt(stream, count.next);
    const branch = longAt(stream, size.next);
    const end = size.next + size.value;
    const kind = kinds[branch.value]!;
    const body = kind === "data" ? longAt(stream, branch.next).next : branch.next;
    found.push([kind, stream.subarray(body, end)]);
    at = end + marker.length;
  }
  return found;
}

function longAt(bytes: Buffer, from: number): { value: number; next: number } {
  let value = 0;
  for (let at = from, shift = 0; ; at += 1, shift += 7) {
    value += (bytes[at]! & 0x7f) * 2 ** shift;
    if (bytes[at]! < 0x80)
      return { value: value % 2 === 0 ? value / 2 : -(value + 1) / 2, next: at + 1 };
  }
}

async function ask(blob: string, sql: string, forms = ""): Promise<readonly Framed[]> {
  const text = `<QueryRequest><QueryType>SQL</QueryType><Expression>${sql}</Expression>${forms}</QueryRequest>`;
  const document = parseXml(Buffer.from(text));
  const request = document.ok ? parseQueryRequest(document.value) : document;
  if (!request.ok) throw new Error(request.fault.code);
  const bytes = Buffer.from(blob);
  const chunks: Uint8Array[] = [];
  const read = async function* (from: number, length: number) {
    yield bytes.subarray(from, from + length);
  };
  const parts = { chunks: read(0, bytes.length), read, totalBytes: bytes.length, marker };
  const queried = { ...parts, loop: newLoopShare(realClock()) };
  for await (const chunk of runQuery(queried, request.value)) {
    chunks.push(Uint8Array.from(chunk));
  }
  return recordsIn(Buffer.concat(chunks));
}

const shape = (records: readonly Framed[]) =>
  records.map(([kind, bytes]) => (kind === "data" ? bytes.toString() : kind));

/** The order of records as the service was recorded to send them. */
describe("a result stream", () => {
  it("without results has one empty data record", async () => {
    const records = await ask("1,2\n", "SELECT _1 from BlobStorage WHERE _1 = 9");
    expect(shape(records)).toEqual(["", "progress", "end"]);
  });

  it("has the results of a page before its errors", async () => {
    const records = await ask(
      "100,hello\n200,300\n300,x\n400,900\n",
      "SELECT _1 from BlobStorage WHERE _2 &gt; 250",
    );
    expect(shape(records)).toEqual(["200\n400\n", "error", "error", "progress", "end"]);
  });

  it("has an empty data record before a fatal error in the first record", async () => {
    const forms =
      "<InputSerialization><Format><Type>json</Type><JsonTextConfiguration>" +
      "<RecordSeparator>\n</RecordSeparator></JsonTextConfiguration></Format></InputSerialization>";
    const records = await ask("{nonsense}", "SELECT * from BlobStorage", forms);
    expect(shape(records)).toEqual(["", "error", "progress", "end"]);
  });

  it("has the column names in a separate data record", async () => {
    const form = (name: string) =>
      `<${name}><Format><Type>delimited</Type><DelimitedTextConfiguration>` +
      "<ColumnSeparator>,</ColumnSeparator><RecordSeparator>\n</RecordSeparator>" +
      "<HasHeaders>true</HasHeaders></DelimitedTextConfiguration></Format>" +
      `</${name}>`;
    const forms = form("InputSerialization") + form("OutputSerialization");
    const records = await ask("a,b\n1,2\n", "SELECT * from BlobStorage", forms);
    expect(shape(records)).toEqual(["a,b\n", "1,2\n", "progress", "end"]);
  });

  it("in Arrow format has a batch without rows after the schema", async () => {
    const forms =
      "<OutputSerialization><Format><Type>arrow</Type><ArrowConfiguration><Schema><Field>" +
      "<Type>string</Type><Name>abc</Name></Field></Schema></ArrowConfiguration></Format>" +
      "</OutputSerialization>";
    const records = await ask("1,2\n", "SELECT _2 from BlobStorage", forms);
    expect(records.map(([kind]) => kind)).toEqual(["data", "data", "progress", "end"]);
    const [first, second] = records.map(([, bytes]) => bytes);
    const start = tableFromIPC(first);
    expect([start.batches.length, start.numRows, start.numCols]).toEqual([1, 0, 1]);
    const whole = tableFromIPC(Buffer.concat([first!, second!]));
    expect(whole.toArray().map((row) => row.toJSON())).toEqual([{ abc: "2" }]);
  });
});
