import { rawClient, type RawCall, type RawClient } from "../harness/raw-client.ts";
import type { ServiceUrls } from "../folder/fill.ts";

/** Text that no disk, database or bucket may contain, and texts in keys that may be readable
 *  (docs/guides/encryption.md). */
export const hidden = "planted-0f6c";
export const readable = {
  container: "readable-container",
  blob: "readable-blob",
  tag: "readable-tag",
  queue: "readable-queue",
  table: "ReadableTable",
  partition: "readable-partition",
  share: "readable-share",
  file: "readable-file",
} as const;

const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };
const metadata = { "x-ms-meta-name": `${hidden}-metadata` };

/** Repeats the text, so that each part of a large content has it. */
export function planted(length: number): string {
  return `${hidden} `.repeat(Math.ceil(length / (hidden.length + 1))).slice(0, length);
}

/** Plants the text in every kind of value, small and large, and leaves some of it replaced, deleted
 *  and staged. */
export async function plant(urls: ServiceUrls): Promise<void> {
  await plantBlobs(rawClient(urls.blob ?? ""));
  await plantEntities(rawClient(urls.table ?? ""));
  await plantMessages(rawClient(urls.queue ?? ""));
  await plantFiles(rawClient(urls.file ?? ""));
}

async function plantBlobs(client: RawClient): Promise<void> {
  const container = `/${readable.container}`;
  const put = (path: string, headers: Readonly<Record<string, string>>, body = "") =>
    must(client, { method: "PUT", path: `${container}${path}`, headers, body });
  const type = { "x-ms-blob-type": "BlockBlob" };
  await put("?restype=container", metadata);
  const tags = { "x-ms-tags": `colour=${readable.tag}` };
  for (const [name, length] of Object.entries({ small: 100, middle: 5000, whole: 60_000 })) {
    await put(`/${readable.blob}-${name}`, { ...type, ...metadata, ...tags }, planted(length));
  }
  const properties = { "x-ms-blob-content-disposition": `${hidden}-disposition` };
  await put("/large", { ...type, ...properties }, planted(3_000_000));
  await put("/large?comp=snapshot", metadata);
  await put("/large", type, planted(1_000_000));
  await put("/staged?comp=block&blockid=YQ%3D%3D", {}, planted(70_000));
  await put("/staged-small?comp=block&blockid=YQ%3D%3D", {}, planted(200));
  await put("/appended", { "x-ms-blob-type": "AppendBlob" });
  for (const length of [30, 300, 3000])
    await put("/appended?comp=appendblock", {}, planted(length));
  await put("/pages", { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "8192" });
  for (const at of [0, 1024, 4096]) {
    const range = { "x-ms-page-write": "update", "x-ms-range": `bytes=${at}-${at + 511}` };
    await put("/pages?comp=page", range, planted(512));
  }
  await put("/gone", { ...type, ...metadata }, planted(20_000));
  await must(client, { method: "DELETE", path: `${container}/gone` });
}

async function plantEntities(client: RawClient): Promise<void> {
  const post = (path: string, entity: object) =>
    must(client, { method: "POST", path, headers: json, body: JSON.stringify(entity) });
  await post("/Tables", { TableName: readable.table });
  for (const length of [20, 20_000]) {
    const keys = { PartitionKey: readable.partition, RowKey: `row-${length}` };
    await post(`/${readable.table}`, { ...keys, text: planted(length) });
  }
}

async function plantMessages(client: RawClient): Promise<void> {
  const queue = `/${readable.queue}`;
  await must(client, { method: "PUT", path: queue, headers: metadata });
  for (const length of [20, 20_000, 30]) {
    const body = `<QueueMessage><MessageText>${planted(length)}</MessageText></QueueMessage>`;
    await must(client, { method: "POST", path: `${queue}/messages`, body });
  }
  await must(client, { method: "GET", path: `${queue}/messages?visibilitytimeout=3600` });
}

async function plantFiles(client: RawClient): Promise<void> {
  const share = `/${readable.share}`;
  const put = (path: string, headers: Readonly<Record<string, string>>, body = "") =>
    must(client, { method: "PUT", path: `${share}${path}`, headers, body });
  await put("?restype=share", metadata);
  const file = `/${readable.file}`;
  await put(file, { "x-ms-type": "file", "x-ms-content-length": "200000", ...metadata });
  for (const [at, length] of [
    [0, 100],
    [1000, 100_000],
  ] as const) {
    const range = { "x-ms-write": "update", "x-ms-range": `bytes=${at}-${at + length - 1}` };
    await put(`${file}?comp=range`, range, planted(length));
  }
  await put("?restype=share&comp=snapshot", {});
}

/** All contents of the planted blobs and files, as clients read them. */
export async function readPlanted(urls: ServiceUrls): Promise<readonly string[]> {
  const blob = rawClient(urls.blob ?? "");
  const names = ["small", "middle", "whole"].map((name) => `${readable.blob}-${name}`);
  const paths = [...names, "large", "appended", "pages"].map(
    (name) => `/${readable.container}/${name}`,
  );
  const file = `/${readable.share}/${readable.file}`;
  const texts: string[] = [];
  for (const path of paths) texts.push((await must(blob, { method: "GET", path })).toString());
  const range = { "x-ms-range": "bytes=500000-500099" };
  const large = { method: "GET", path: `/${readable.container}/large`, headers: range };
  texts.push((await must(blob, large)).toString());
  const content = await must(rawClient(urls.file ?? ""), { method: "GET", path: file });
  texts.push(content.toString());
  const rows = { method: "GET", path: `/${readable.table}()`, headers: json };
  const found = JSON.parse((await must(rawClient(urls.table ?? ""), rows)).toString()) as {
    readonly value: readonly { readonly text: string }[];
  };
  texts.push(...found.value.map(({ text }) => text));
  const peek = { method: "GET", path: `/${readable.queue}/messages?peekonly=true&numofmessages=9` };
  texts.push(
    (await must(rawClient(urls.queue ?? ""), peek)).toString().replaceAll(/<[^>]*Id>.*?Time>/g, ""),
  );
  return texts;
}

async function must(client: RawClient, call: RawCall): Promise<Buffer> {
  const { status, body } = await client.send(call);
  if (status >= 300) throw new Error(`${call.method} ${call.path}: ${status} ${body.toString()}`);
  return body;
}
