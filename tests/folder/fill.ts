import { rawClient, type RawCall, type RawClient } from "../harness/raw-client.ts";

export interface ServiceUrls {
  readonly blob?: string;
  readonly queue?: string;
  readonly table?: string;
  readonly file?: string;
  readonly smb?: string;
}

const block = { "x-ms-blob-type": "BlockBlob" };
const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };
const pageBytes = 512;
/** Too large for a record's slices, so that the content becomes a tree. */
const scatteredPages = 80;

/** Something of every kind that a folder can hold, with shared, replaced and deleted content. */
export async function fill(urls: ServiceUrls, prefix: string): Promise<void> {
  await Promise.all([
    fillBlobs(rawClient(urls.blob ?? ""), `/${prefix}blobs`),
    fillTables(rawClient(urls.table ?? ""), `${prefix}table`),
    fillQueues(rawClient(urls.queue ?? ""), `/${prefix}queue`),
    fillFiles(rawClient(urls.file ?? ""), `/${prefix}share`),
  ]);
}

async function fillBlobs(client: RawClient, container: string): Promise<void> {
  const put = (path: string, headers: Readonly<Record<string, string>> = {}, body = "") =>
    must(client, { method: "PUT", path: `${container}${path}`, headers, body });
  await put("?restype=container");
  await put("/small", { ...block, "x-ms-tags": "colour=red" }, "small");
  await put("/large", block, "l".repeat(300_000));
  await put("/large?comp=snapshot");
  await put("/large", block, "m".repeat(200_000));
  await put("/staged?comp=block&blockid=YQ%3D%3D", {}, "b".repeat(70_000));
  await put("/composed?comp=block&blockid=YQ%3D%3D", {}, "c".repeat(70_000));
  await put(
    "/composed?comp=blocklist",
    {},
    "<?xml version='1.0'?><BlockList><Latest>YQ==</Latest></BlockList>",
  );
  const length = String(2 * scatteredPages * pageBytes);
  await put("/pages", { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": length });
  for (let page = 0; page < scatteredPages; page += 1) {
    const at = 2 * page * pageBytes;
    const headers = { "x-ms-page-write": "update", "x-ms-range": rangeOf(at, pageBytes) };
    await put("/pages?comp=page", headers, "p".repeat(pageBytes));
  }
  await put("/pages?comp=snapshot");
  const again = { "x-ms-page-write": "update", "x-ms-range": rangeOf(0, pageBytes) };
  await put("/pages?comp=page", again, "q".repeat(pageBytes));
  await put("/gone", block, "g".repeat(100_000));
  await must(client, { method: "DELETE", path: `${container}/gone` });
}

async function fillTables(client: RawClient, table: string): Promise<void> {
  const post = (path: string, entity: object) =>
    must(client, { method: "POST", path, headers: json, body: JSON.stringify(entity) });
  await post("/Tables", { TableName: table });
  for (let row = 0; row < 20; row += 1) {
    await post(`/${table}`, {
      PartitionKey: "p",
      RowKey: String(row),
      text: "t".repeat(row * 100),
    });
  }
}

async function fillQueues(client: RawClient, queue: string): Promise<void> {
  await must(client, { method: "PUT", path: queue });
  for (let count = 0; count < 20; count += 1) {
    const body = `<QueueMessage><MessageText>${count}</MessageText></QueueMessage>`;
    const term = count % 2 === 0 ? "" : "?messagettl=-1";
    await must(client, { method: "POST", path: `${queue}/messages${term}`, body });
  }
  // Hidden for longer than any test takes: what clients can see does not change by itself.
  const hidden = "numofmessages=5&visibilitytimeout=36000";
  await must(client, { method: "GET", path: `${queue}/messages?${hidden}` });
}

async function fillFiles(client: RawClient, share: string): Promise<void> {
  const put = (path: string, headers: Readonly<Record<string, string>> = {}, body = "") =>
    must(client, { method: "PUT", path: `${share}${path}`, headers, body });
  const write = (path: string, at: number, body: string) =>
    put(
      `${path}?comp=range`,
      { "x-ms-write": "update", "x-ms-range": rangeOf(at, body.length) },
      body,
    );
  await put("?restype=share");
  await put("/folder?restype=directory");
  await put("/folder/file", { "x-ms-type": "file", "x-ms-content-length": "200000" });
  await write("/folder/file", 1000, "f".repeat(100_000));
  await put("?restype=share&comp=snapshot");
  await write("/folder/file", 50_000, "g".repeat(100_000));
  await put("/old", { "x-ms-type": "file", "x-ms-content-length": "10" });
  await must(client, { method: "DELETE", path: `${share}/old` });
}

function rangeOf(at: number, length: number): string {
  return `bytes=${at}-${at + length - 1}`;
}

async function must(client: RawClient, call: RawCall): Promise<void> {
  const { status, body } = await client.send(call);
  if (status >= 300) throw new Error(`${call.method} ${call.path}: ${status} ${body.toString()}`);
}
