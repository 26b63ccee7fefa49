import { lastAccessUpdate } from "../read/last-access.ts";
import { blobProperties, blobPropertyNames } from "../read/blob-properties.ts";
import { encryption } from "../../protocol/encryption.ts";
import { fail } from "../../protocol/result.ts";
import { operation } from "../resources.ts";
import { runQuery } from "./run-query.ts";
import { parseQueryRequest, queryBytesMax } from "./serialization.ts";

/** learn.microsoft.com/rest/api/storageservices/query-blob-contents */
export const queryBlob = operation({
  name: "Query Blob Contents",
  ids: ["Blob_Query"],
  route: { method: "POST", resource: "blob", query: { comp: "query" } },
  since: "2019-12-12",
  params: { encryption },
  body: { kind: "xml", bytesMax: queryBytesMax, parse: parseQueryRequest },
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
  target: "must-exist",
  conditions: "read",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  policy: {
    content: "read",
    generations: "any",
    pendingCopy: "allow",
    clientKey: "match",
    directories: "reject",
  },
  success: { status: 200, headers: [...blobPropertyNames, "Content-Range"] },
  decide: (context) => {
    const { target, address, input, now, features, newGuid } = context;
    if (target.type !== "BlockBlob") return fail("InvalidBlobType");
    const { content, metadata } = target;
    const totalBytes = content.length;
    const marker = Buffer.from(newGuid().replaceAll("-", ""), "hex");
    return {
      ...lastAccessUpdate(context),
      metadata,
      headers: [
        ...blobProperties({ target, address, now, features }),
        { "Content-Type": "avro/binary" },
      ],
      body: {
        content,
        from: 0,
        length: totalBytes,
        transform: (chunks, read) => runQuery({ chunks, read, totalBytes, marker }, input.body),
      },
    };
  },
});
