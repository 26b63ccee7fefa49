import type { ServiceName } from "../../src/protocol/names.ts";
import type { RawCall, RawClient } from "../harness/raw-client.ts";

const put = (path: string, headers: Readonly<Record<string, string>> = {}, body = ""): RawCall => ({
  method: "PUT",
  path,
  headers,
  body,
});
const json = { "content-type": "application/json", accept: "application/json;odata=fullmetadata" };
const post = (path: string, entity: object): RawCall => ({
  method: "POST",
  path,
  headers: json,
  body: JSON.stringify(entity),
});
const get = (path: string): RawCall => ({
  method: "GET",
  path,
  headers: { accept: "application/json;odata=fullmetadata" },
});
const pageBytes = "512";

/** The resources that exist before a request, by service … */
export const fixtures: Readonly<Record<ServiceName, readonly RawCall[]>> = {
  blob: [
    put("/fuzz?restype=container"),
    put("/fuzz/block", { "x-ms-blob-type": "BlockBlob", "x-ms-meta-kept": "yes" }, "text"),
    put("/fuzz/page", { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": pageBytes }),
    put("/fuzz/append", { "x-ms-blob-type": "AppendBlob" }),
  ],
  queue: [
    put("/fuzz"),
    {
      method: "POST",
      path: "/fuzz/messages",
      body: "<QueueMessage><MessageText>kept</MessageText></QueueMessage>",
    },
  ],
  table: [
    post("/Tables", { TableName: "fuzztable" }),
    post("/fuzztable", { PartitionKey: "p", RowKey: "r", kept: 1 }),
  ],
  file: [
    put("/fuzz?restype=share"),
    put("/fuzz/folder?restype=directory"),
    put("/fuzz/file", { "x-ms-type": "file", "x-ms-content-length": "4" }),
    put("/fuzz/folder/file", { "x-ms-type": "file", "x-ms-content-length": "0" }),
  ],
};

/** … and everything that a client can see of it. */
const views: Readonly<Record<ServiceName, readonly RawCall[]>> = {
  blob: [
    get("/?comp=list&include=metadata,deleted"),
    get("/?restype=service&comp=properties"),
    get("/fuzz?restype=container&comp=acl"),
    get(
      "/fuzz?restype=container&comp=list&include=metadata,snapshots,uncommittedblobs,tags,deleted",
    ),
    get("/fuzz/block"),
    get("/fuzz/page"),
    get("/fuzz/append"),
    get("/fuzz/block?comp=blocklist&blocklisttype=all"),
  ],
  queue: [
    get("/?comp=list&include=metadata"),
    get("/?restype=service&comp=properties"),
    get("/fuzz?comp=acl"),
    get("/fuzz?comp=metadata"),
  ],
  table: [
    get("/Tables"),
    get("/fuzztable()"),
    get("/fuzztable?comp=acl"),
    get("/?restype=service&comp=properties"),
  ],
  file: [
    get("/?comp=list&include=metadata,snapshots"),
    get("/?restype=service&comp=properties"),
    get("/fuzz?restype=share&comp=acl"),
    get("/fuzz?restype=directory&comp=list&include=timestamps,etag,attributes"),
    get("/fuzz/folder?restype=directory&comp=list&include=timestamps,etag,attributes"),
    get("/fuzz/file"),
    get("/fuzz/folder/file"),
  ],
};

/** The same text as long as nothing has changed. Leases expire, so they are left out. */
export async function lookAt(service: ServiceName, client: RawClient): Promise<string> {
  const answers = await Promise.all(views[service].map((call) => client.send(call)));
  return answers
    .map(({ status, headers, body }) => {
      // An error contains its time.
      if (status >= 400) return String(status);
      const text = body.toString().replaceAll(/<Lease\w+>\w*<\/Lease\w+>/g, "");
      return `${status} ${String(headers["etag"])} ${String(headers["x-ms-meta-a"])} ${text}`;
    })
    .join("\n");
}
