import { expectStatus, type AbusiveInput, type StallClients } from "./stall-client.ts";

const csv = `<DelimitedTextConfiguration><ColumnSeparator>,</ColumnSeparator><FieldQuote>"</FieldQuote>
<RecordSeparator>\n</RecordSeparator><EscapeChar></EscapeChar><HasHeaders>false</HasHeaders>
</DelimitedTextConfiguration>`;
const jsonText = `<JsonTextConfiguration><RecordSeparator>\n</RecordSeparator></JsonTextConfiguration>`;

function requestOf({ expression = wholeBlob, type = "delimited", hasHeaders }: QueryRow): string {
  const headers = `<HasHeaders>${hasHeaders === true}</HasHeaders>`;
  const inner = type === "json" ? jsonText : csv.replace(/<HasHeaders>.*<\/HasHeaders>/, headers);
  const format = `<Format><Type>${type}</Type>${inner}</Format>`;
  const escaped = expression.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return (
    `<?xml version="1.0" encoding="utf-8"?><QueryRequest><QueryType>SQL</QueryType>` +
    `<Expression>${escaped}</Expression><InputSerialization>${format}</InputSerialization>` +
    `<OutputSerialization>${format}</OutputSerialization></QueryRequest>`
  );
}

async function put({ blob }: StallClients, name: string, body: string): Promise<void> {
  await blob.send({ method: "PUT", path: "/query?restype=container" });
  const headers = { "x-ms-blob-type": "BlockBlob" };
  await expectStatus(blob, 201, { method: "PUT", path: `/query/${name}`, headers, body });
}

interface QueryRow {
  readonly name: string;
  readonly type?: "delimited" | "json";
  readonly expression?: string;
  readonly hasHeaders?: boolean;
  readonly body: () => string;
  readonly status?: number;
}

const wholeBlob = "SELECT * FROM BlobStorage";

const rows: readonly QueryRow[] = [
  {
    name: "many empty lines",
    expression: "SELECT COUNT(*) FROM BlobStorage",
    body: () => "\n".repeat(200_000),
  },
  {
    name: "a million empty lines",
    expression: "SELECT COUNT(*) FROM BlobStorage",
    body: () => "\n".repeat(1_000_000),
  },
  { name: "lines of a megabyte", body: () => `${"x".repeat(1_000_000)}\n`.repeat(8) },
  { name: "a line without end", body: () => "x".repeat(8_000_000) },
  { name: "16,000 columns", body: () => `${"1,".repeat(16_000)}\n`.repeat(50) },
  { name: "a million records", body: () => "1,2\n".repeat(1_000_000) },
  { name: "fields of quotes", body: () => `"${'""'.repeat(500_000)}"\n`.repeat(4) },
  { name: "a quote that does not end", body: () => `"${"a\n".repeat(4_000_000)}` },
  {
    name: "numbers with many digits",
    expression: "SELECT * FROM BlobStorage WHERE _1 > 5",
    body: () => `${"1".repeat(1_000_000)}x\n`.repeat(4),
  },
  { name: "deep JSON", type: "json", body: () => `{"a":${"[".repeat(1_000_000)}\n` },
  { name: "a long JSON array", type: "json", body: () => `[${'{"a":1},'.repeat(500_000)}{}]` },
  {
    name: "JSON of many members",
    type: "json",
    body: () =>
      `{${Array.from({ length: 16_000 }, (_, at) => `"p${at}":1`).join(",")}}\n`.repeat(9),
  },
  {
    name: "patterns that backtrack",
    expression: `SELECT * FROM BlobStorage WHERE _1 LIKE '${"%a".repeat(100)}b'`,
    body: () => `${"a".repeat(1_000_000)}\n`.repeat(10),
  },
  {
    name: "a long pattern",
    expression: `SELECT * FROM BlobStorage WHERE _1 LIKE '%${"a".repeat(10_000)}b%'`,
    body: () => `${"a".repeat(1_000_000)}\n`.repeat(3),
  },
  {
    name: "a long pattern of any characters",
    expression: `SELECT * FROM BlobStorage WHERE _1 LIKE '%_${"a".repeat(10_000)}b%'`,
    body: () => `${"a".repeat(1_000_000)}\n`.repeat(3),
  },
  {
    name: "many patterns and long lines",
    expression: `SELECT * FROM BlobStorage WHERE ${"_1 LIKE '%b%' OR ".repeat(900)} _1 = 2`,
    body: () => `${"a".repeat(1_000_000)}\n`.repeat(3),
  },
  {
    name: "many names of columns",
    expression: `SELECT * FROM BlobStorage WHERE ${"p16000 = 1 OR ".repeat(900)} p1 = 2`,
    body: () => {
      const names = Array.from({ length: 16_001 }, (_, at) => `p${at}`).join(",");
      return `${names}\n${`${",".repeat(16_000)}\n`.repeat(20)}`;
    },
    hasHeaders: true,
  },
  {
    name: "a long expression",
    expression: `SELECT * FROM BlobStorage WHERE ${"_1 = 1 OR ".repeat(950)} _1 = 2`,
    body: () => "7,2\n".repeat(20_000),
  },
  {
    name: "a deep expression",
    expression: `SELECT * FROM BlobStorage WHERE ${"(".repeat(5000)}_1 = 1${")".repeat(5000)}`,
    body: () => "7,2\n",
    status: 400,
  },
];

export const queryInputs: readonly AbusiveInput[] = rows.map((row) => ({
  name: `Query Blob Contents of ${row.name}`,
  async prepare(clients) {
    const blob = row.name.replaceAll(" ", "-");
    await put(clients, blob, row.body());
    const call = { method: "POST", path: `/query/${blob}?comp=query`, body: requestOf(row) };
    return () => expectStatus(clients.blob, row.status ?? 200, call);
  },
}));
