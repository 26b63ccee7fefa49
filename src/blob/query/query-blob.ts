import { blobRead } from "../blob-policy.ts";
import { lastAccessUpdate } from "../read/last-access.ts";
import { blobPropertyNames, queryProperties } from "../read/blob-properties.ts";
import { encryption } from "../../protocol/encryption.ts";
import { fail } from "../../protocol/result.ts";
import { operation } from "../resources.ts";
import { runQuery } from "./run-query.ts";
import { parseQueryRequest, queryBytesMax } from "./serialization.ts";

/** Runs an SQL query on the records of a blob (CSV, JSON, Parquet) and returns the selected ones.
 *  learn.microsoft.com/rest/api/storageservices/query-blob-contents */
export const queryBlob = operation({
  ...blobRead,
  name: "Query Blob Contents",
  ids: ["Blob_Query"],
  route: { method: "POST", resource: "blob", query: { comp: "query" } },
  since: "2019-12-12",
  params: { encryption },
  body: { kind: "xml", bytesMax: queryBytesMax, parse: parseQueryRequest },
  policy: { ...blobRead.policy, content: "read", directories: "reject" },
  success: { status: 200, headers: [...blobPropertyNames, "Content-Range"] },
  // The query runs while the response is sent, and counts its work as a read does.
  reads: ({ loop }) => loop,
  decide: (context) => {
    const { target, input, newGuid, readResult: loop } = context;
    if (target.type !== "BlockBlob") return fail("InvalidBlobType");
    const { content, metadata } = target;
    const totalBytes = content.length;
    const marker = Buffer.from(newGuid().replaceAll("-", ""), "hex");
    return {
      ...lastAccessUpdate(context),
      metadata,
      headers: [...queryProperties(context), { "Content-Type": "avro/binary" }],
      body: {
        content,
        from: 0,
        length: totalBytes,
        transform: (chunks, read) =>
          runQuery({ chunks, read, totalBytes, marker, loop }, input.body),
      },
    };
  },
});
