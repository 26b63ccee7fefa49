import { noBody, type Operation } from "../../operation/operation.ts";
import { getBlobProperties } from "../read/get-blob-properties.ts";
import { getBlob } from "../read/get-blob.ts";
import type { BlobRecord } from "../records.ts";
import { leaseBlob } from "../write/lease-blob.ts";
import { leaseAction } from "../../operation/common-params.ts";
import { headerGroups } from "./header-groups.ts";
import { formatProperties } from "./params.ts";

const since = "2018-11-09";

/** Reads through either API differ in the form of metadata. This one answers both forms, because
 *  clients that address a server by IP send reads of the Blob API here as well. */
function withProperties(operation: Operation): Operation["decide"] {
  return (context) => {
    const decision = operation.decide(context);
    if ("fault" in decision || "wait" in decision) return decision;
    const { metadata } = context.target as BlobRecord;
    const properties = { "x-ms-properties": formatProperties(metadata) || undefined };
    return { ...decision, headers: [...headerGroups(decision), properties] };
  };
}

function withHeader({ success }: Operation): Operation["success"] {
  return { ...success, headers: [...success.headers, "x-ms-properties"] };
}

/** learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/read */
export const readPath: Operation = {
  ...getBlob,
  name: "Read Path",
  ids: ["Path_Read"],
  route: { method: "GET", resource: "blob" },
  since,
  success: withHeader(getBlob),
  decide: withProperties(getBlob),
};

/** learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/get-properties */
export const getPathProperties: Operation = {
  ...getBlobProperties,
  name: "Get Path Properties",
  ids: ["Path_GetProperties"],
  route: { method: "HEAD", resource: "blob" },
  since,
  permission: { ...getBlobProperties.permission, posix: {} },
  success: withHeader(getBlobProperties),
  decide: withProperties(getBlobProperties),
};

/** All that is not the client's own: no metadata. */
export const getPathStatus: Operation = {
  ...getBlobProperties,
  name: "Get Path Status",
  ids: [],
  route: { method: "HEAD", resource: "blob", query: { action: "getStatus" } },
  since,
  permission: { letters: "er", resourceType: "o", posix: {} },
};

/** learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/lease */
export const leasePath: Operation = {
  ...leaseBlob,
  name: "Lease Path",
  ids: ["Path_Lease"],
  route: { method: "POST", resource: "blob", headers: { "x-ms-lease-action": true } },
  since,
  params: { action: leaseAction("blob") },
  body: noBody,
};
