import { BlobServiceClient, type BlobItem, type ContainerClient } from "@azure/storage-blob";
import { tableFromIPC, type Table } from "apache-arrow";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";

const arrow = "application/vnd.apache.arrow.stream";
/** The Accept header of clients that support the format. */
const asked = { accept: `${arrow},application/xml`, "x-ms-version": "2026-10-06" };

const held = testServer();
let service: BlobServiceClient;
let container: ContainerClient;

beforeAll(() => {
  service = BlobServiceClient.fromConnectionString(held.server.connectionString);
});
beforeEach(async () => {
  container = service.getContainerClient(freshName("arrow"));
  await container.create();
});

async function put(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const metadata = { name: Buffer.from(name).toString("hex") };
    await container.getBlockBlobClient(name).upload(name, Buffer.byteLength(name), { metadata });
  }
}

function send(query: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  const path = `/${container.containerName}?restype=container&comp=list${query}`;
  return held.blob.send({ method, path, headers: { ...asked, ...headers } });
}

async function list(query = ""): Promise<Table> {
  const { status, headers, body } = await send(query);
  expect(status, body.toString()).toBe(200);
  expect(headers["content-type"]).toBe(arrow);
  return tableFromIPC(body);
}

function column(table: Table, name: string): unknown[] {
  return [...(table.getChild(name) ?? [])];
}

async function namesOf(query = ""): Promise<unknown[]> {
  return column(await list(query), "Name");
}

describe("a listing in Arrow format", () => {
  it("contains the same blobs as the XML format", async () => {
    await put("a", "b/1", "b/2", "ü🎈");
    await container
      .getPageBlobClient("p")
      .create(512, { blobSequenceNumber: 7, metadata: { m: "1" } });
    await container.getBlockBlobClient("a").createSnapshot();
    const table = await list("&include=metadata,snapshots");
    const options = { includeMetadata: true, includeSnapshots: true };
    const items: Comparable[] = [];
    for await (const item of container.listBlobsFlat(options)) items.push(itemOf(item));
    const rows: readonly Record<string, unknown>[] = table.toArray();
    expect(rows.map((row) => rowOf(row))).toEqual(items);
    expect(table.schema.metadata.get("NumberOfRecords")).toBe("6");
    expect(table.schema.metadata.get("NextMarker")).toBe("");
  });

  it("continues after the previous page, without gap or repetition", async () => {
    const all = Array.from({ length: 11 }, (_, index) => `blob-${10 + index}`);
    await put(...all);
    const seen: unknown[] = [];
    let marker = "";
    for (let pages = 0; pages < all.length; pages += 1) {
      const table = await list(`&maxresults=3&marker=${encodeURIComponent(marker)}`);
      expect(table.numRows).toBeLessThanOrEqual(3);
      seen.push(...column(table, "Name"));
      marker = table.schema.metadata.get("NextMarker") ?? "";
      if (marker === "") break;
    }
    expect(seen).toEqual(all);
  });

  it("marks blob prefixes", async () => {
    await put("a", "b/1", "b/2", "c");
    const table = await list("&delimiter=/");
    expect(column(table, "Name")).toEqual(["a", "b/", "c"]);
    expect(column(table, "ResourceType")).toEqual([null, "blobprefix", null]);
    expect(column(table, "Etag")[1]).toBeNull();
  });

  it("starts at one name and ends before another", async () => {
    await put("a", "b", "ba", "c", "d");
    expect(await namesOf("&startFrom=b")).toEqual(["b", "ba", "c", "d"]);
    expect(await namesOf("&endBefore=c")).toEqual(["a", "b", "ba"]);
    expect(await namesOf("&startFrom=aa&endBefore=bb")).toEqual(["b", "ba"]);
    expect(await namesOf("&prefix=b&endBefore=a")).toEqual([]);
    expect(await namesOf("&prefix=b&endBefore=x")).toEqual(["b", "ba"]);
    expect(await namesOf("&prefix=b&startFrom=x")).toEqual([]);
    expect(await namesOf("&startFrom=c&endBefore=b")).toEqual([]);
  });

  it("is empty for an empty container", async () => {
    const table = await list("&include=metadata,tags");
    expect(table.numRows).toBe(0);
    expect(table.schema.fields.map(({ name }) => name)).toEqual(["Name"]);
  });

  it("answers HEAD with headers only", async () => {
    const { status, headers, body } = await send("", {}, "HEAD");
    expect([status, headers["content-type"], body.length]).toEqual([200, arrow, 0]);
  });
});

describe("the XML format is returned", () => {
  it.each([
    ["if nothing else is asked for", { accept: "application/xml" }],
    ["to wildcards", { accept: "*/*" }],
    ["if the other is refused", { accept: `${arrow};q=0, application/xml` }],
    ["to versions that know no other", { "x-ms-version": "2026-06-06" }],
  ])("%s", async (_when, headers) => {
    const answer = await send("", headers);
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/xml"]);
  });

  it("with a start name", async () => {
    await put("a", "b", "c");
    const { body } = await send("&startFrom=b", { accept: "application/xml" });
    expect([...body.toString().matchAll(/<Name>(.)</g)].map(([, name]) => name)).toEqual([
      "b",
      "c",
    ]);
  });

  it.each([
    ["&include=nonsense", 400, "InvalidQueryParameterValue"],
    ["&maxresults=0", 400, "OutOfRangeQueryParameterValue"],
    ["&delimiter=/&include=snapshots", 400, "InvalidQueryParameterValue"],
    ["&marker=nonsense", 400, "OutOfRangeInput"],
  ])("for %s, which cannot be listed", async (query, status, code) => {
    const answer = await send(query);
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(answer.headers["content-type"]).toBe("application/xml");
  });
});

/** The properties by which both formats are compared. */
interface Comparable {
  readonly name: string;
  readonly [property: string]: unknown;
}

function rowOf(row: Record<string, unknown>): Comparable {
  const metadata = row["Metadata"] as Iterable<readonly [string, string]> | null;
  const sequence = row["x-ms-blob-sequence-number"];
  return {
    name: String(row["Name"]),
    snapshot: row["Snapshot"] ?? undefined,
    etag: row["Etag"],
    length: Number(row["Content-Length"]),
    type: row["BlobType"],
    modified: row["Last-Modified"],
    created: row["Creation-Time"],
    md5: row["Content-MD5"] ?? undefined,
    tier: row["AccessTier"] ?? undefined,
    sequence: sequence === null ? undefined : Number(sequence),
    metadata: Object.fromEntries(metadata ?? []),
  };
}

function itemOf({ name, snapshot, properties, metadata }: BlobItem): Comparable {
  const { contentMD5, blobSequenceNumber, createdOn } = properties;
  return {
    name,
    snapshot: snapshot === "" ? undefined : snapshot,
    etag: properties.etag,
    length: properties.contentLength,
    type: properties.blobType,
    modified: properties.lastModified.getTime(),
    created: createdOn?.getTime(),
    md5: contentMD5?.length ? Buffer.from(contentMD5).toString("base64") : undefined,
    tier: properties.accessTier,
    sequence: blobSequenceNumber,
    metadata: metadata ?? {},
  };
}
