import type { BlobPolicy } from "../../blob-policy.ts";
import type { AnyDecisionContext, Operation } from "../../../operation/operation.ts";
import { getBlobProperties, getBlob } from "../../read/get-blob.ts";
import type { Metadata } from "../../../protocol/metadata.ts";
import { fail } from "../../../protocol/result.ts";
import type { BlobRecord } from "../../records.ts";
import { isHierarchical, type ContainerScope } from "../../resources.ts";
import { hasFolderMark } from "../../tree/create-parents.ts";
import { rootName } from "../../tree/find-path.ts";
import { leaseBlob } from "../../write/set-blob-properties.ts";
import { leaseAction } from "../../../operation/common-params.ts";
import { withHeaders } from "../dialect.ts";
import { formatProperties, transactionIdHeader, upn } from "../params.ts";

/** Reads of the Data Lake API: the operations of the Blob API, wrapped to add this API's
 *  headers. */

const since = "2018-11-09";

/** `x-ms-properties`, the metadata format of the Data Lake API, for the reply of an operation of
 *  the Blob API. The response has both formats, because clients that address a server by IP send
 *  reads of the Blob API to this API, too. */
function propertyHeaders({ target, scope, version }: AnyDecisionContext) {
  const { metadata, directory } = target as BlobRecord;
  const text = formatProperties(metadata);
  const isSent = text !== "" || version >= emptyPropertiesSince;
  return {
    ...(isHierarchical(scope as ContainerScope) ? {} : flatType(metadata)),
    "x-ms-properties": isSent ? text : undefined,
    ...(version === emptyCrc64Version && directory === undefined ? emptyCrc64 : {}),
  };
}

/** The response header with the type of a path on a flat account, where the folder mark in the
 *  metadata makes a blob a directory. */
function flatType(metadata: Metadata) {
  return { "x-ms-resource-type": hasFolderMark(metadata) ? "directory" : "file" };
}

/** The first x-ms-version whose reads have `x-ms-properties` for a path without metadata (recorded
 *  from Azure). */
const emptyPropertiesSince = "2022-11-02";
/** The only x-ms-version whose reads of files have the CRC64 of no bytes as checksum header,
 *  whatever the content (recorded from Azure). */
const emptyCrc64Version = "2022-11-02";
const emptyCrc64 = { "x-ms-content-crc64": "AAAAAAAAAAA=" };

/** Headers that the status of a path has: its type on a flat account, and the transaction id that
 *  it was created or renamed with. */
function statusHeaders({ target, scope }: AnyDecisionContext) {
  const { metadata, transactionId } = target as BlobRecord;
  const type = isHierarchical(scope as ContainerScope) ? {} : flatType(metadata);
  return { ...type, [transactionIdHeader]: transactionId };
}

/** Rejects a Data Lake request for the properties of the root directory, which has none in this
 *  API. A request without `upn`, a parameter of the Data Lake API alone, may be one of the Blob
 *  API, in which the root directory has properties. */
function exceptOfRoot(decide: Operation["decide"]): Operation["decide"] {
  return (context) => {
    const { key } = context.scope as ContainerScope;
    const isOfThisApi = "upn" in context.input && context.input.upn !== undefined;
    return isOfThisApi && key.name === rootName ? fail("InvalidUri") : decide(context);
  };
}

/** Get Blob with the headers of the Data Lake API.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/read */
export const readPath: Operation = {
  ...getBlob,
  name: "Read Path",
  ids: ["Path_Read"],
  route: { method: "GET", resource: "blob" },
  since,
  decide: withHeaders(getBlob.decide, propertyHeaders),
};

/** Get Blob Properties with the headers of the Data Lake API.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/get-properties */
export const getPathProperties: Operation = {
  ...getBlobProperties,
  policy: {
    ...(getBlobProperties.policy as BlobPolicy),
    prefixes: "directory",
  } satisfies BlobPolicy,
  name: "Get Path Properties",
  ids: ["Path_GetProperties"],
  route: { method: "HEAD", resource: "blob" },
  since,
  params: { ...getBlobProperties.params, upn },
  permission: { ...getBlobProperties.permission, posix: {} },
  decide: exceptOfRoot(
    withHeaders(getBlobProperties.decide, (context) => ({
      ...propertyHeaders(context),
      ...statusHeaders(context),
    })),
  ),
};

/** Returns the system properties of a path, without its metadata. Works without the
 *  customer-provided key of an encrypted path: Hadoop finds the key by the encryption context in
 *  this response. */
export const getPathStatus: Operation = {
  ...getBlobProperties,
  policy: {
    content: "none",
    generations: "any",
    pendingCopy: "allow",
    clientKey: "none",
    prefixes: "directory",
    event: "none",
  } satisfies BlobPolicy,
  name: "Get Path Status",
  ids: [],
  route: { method: "HEAD", resource: "blob", query: { action: "getStatus" } },
  since,
  permission: { letters: "er", resourceType: "o", posix: {} },
  decide: withHeaders(getBlobProperties.decide, statusHeaders),
};

/** Lease Blob under its Data Lake name.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/lease */
export const leasePath: Operation = {
  ...leaseBlob,
  name: "Lease Path",
  ids: ["Path_Lease"],
  route: { method: "POST", resource: "blob", headers: { "x-ms-lease-action": true } },
  since,
  params: { action: leaseAction("blob") },
};
