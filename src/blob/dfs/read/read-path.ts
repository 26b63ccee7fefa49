import type { BlobPolicy } from "../../blob-policy.ts";
import type { Operation } from "../../../operation/operation.ts";
import { getBlobProperties, getBlob } from "../../read/get-blob.ts";
import type { Metadata } from "../../../protocol/metadata.ts";
import { fail } from "../../../protocol/result.ts";
import type { BlobRecord } from "../../records.ts";
import { isHierarchical, type ContainerScope } from "../../resources.ts";
import { hasFolderMark } from "../../tree/create-parents.ts";
import { rootName } from "../../tree/find-path.ts";
import { leaseBlob } from "../../write/set-blob-properties.ts";
import { leaseAction } from "../../../operation/common-params.ts";
import { headerGroups } from "../dialect.ts";
import { formatProperties, transactionIdHeader, upn } from "../params.ts";

/** Reads of the Data Lake API: the operations of the Blob API, wrapped to add this API's
 *  headers. */

const since = "2018-11-09";

/** Adds `x-ms-properties`, the metadata format of the Data Lake API, to the reply of an operation
 *  of the Blob API. The response has both formats, because clients that address a server by IP send
 *  reads of the Blob API to this API, too. */
function withProperties(operation: Operation): Operation["decide"] {
  return (context) => {
    const decision = operation.decide(context);
    if ("fault" in decision || "wait" in decision) return decision;
    const { metadata, directory } = context.target as BlobRecord;
    const { version } = context;
    const text = formatProperties(metadata);
    const isSent = text !== "" || version >= emptyPropertiesSince;
    const isFlat = !isHierarchical(context.scope as ContainerScope);
    const properties = {
      ...(isFlat ? flatType(metadata) : {}),
      "x-ms-properties": isSent ? text : undefined,
      ...(version === emptyCrc64Version && directory === undefined ? emptyCrc64 : {}),
    };
    return { ...decision, headers: [properties, ...headerGroups(decision)] };
  };
}

/** The type of a path on a flat account, where the folder mark makes a blob a directory. */
function flatType(metadata: Metadata) {
  return { "x-ms-resource-type": hasFolderMark(metadata) ? "directory" : "file" };
}

/** The first version whose reads have `x-ms-properties` for a path without metadata (recorded from
 *  Azure). */
const emptyPropertiesSince = "2022-11-02";
/** The only version whose reads of files have the CRC64 of no bytes as checksum header, whatever
 *  the content (recorded from Azure). */
const emptyCrc64Version = "2022-11-02";
const crc64Header = "x-ms-content-crc64";
const emptyCrc64 = { [crc64Header]: "AAAAAAAAAAA=" };

/** Adds the type of the path on flat accounts. */
function withType(decide: Operation["decide"]): Operation["decide"] {
  return (context) => {
    const decision = decide(context);
    if ("fault" in decision || "wait" in decision) return decision;
    if (isHierarchical(context.scope as ContainerScope)) return decision;
    const { metadata } = context.target as BlobRecord;
    return { ...decision, headers: [...headerGroups(decision), flatType(metadata)] };
  };
}

/** Adds the transaction id that the path was created or renamed with. */
function withTransactionId(decide: Operation["decide"]): Operation["decide"] {
  return (context) => {
    const decision = decide(context);
    if ("fault" in decision || "wait" in decision) return decision;
    const { transactionId } = context.target as BlobRecord;
    if (transactionId === undefined) return decision;
    const added = { [transactionIdHeader]: transactionId };
    return { ...decision, headers: [...headerGroups(decision), added] };
  };
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
  decide: withProperties(getBlob),
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
  decide: exceptOfRoot(withTransactionId(withProperties(getBlobProperties))),
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
  decide: withTransactionId(withType(getBlobProperties.decide)),
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
