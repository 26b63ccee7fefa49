import { scanNames } from "../../account/declare-listing.ts";
import { bareETag } from "../../protocol/conditions.ts";
import { formatHttpDate } from "../../base/dates.ts";
import {
  type AnyDecisionContext,
  type Operation,
  largeListing,
} from "../../operation/operation.ts";
import { nameText } from "../../operation/listing.ts";
import { resourceNameUnitsMax } from "../../protocol/names.ts";
import { query } from "../../protocol/params.ts";
import { createContainer, deleteContainer } from "../container/container-lifecycle.ts";
import { getContainerProperties, setContainerMetadata } from "../container/container-properties.ts";
import { containers, type ContainerRecord } from "../records.ts";
import { pathOperation } from "../resources.ts";
import { continuation, continuationHeader, continuationOf } from "./continuation.ts";
import { jsonListBody, withHeaders } from "./dialect.ts";
import { formatProperties, maxResults, newProperties } from "./params.ts";

/** Operations on filesystems, the Data Lake API's name of containers: those of the Blob API,
 *  wrapped. */

const since = "2018-11-09";
const route = (method: "PUT" | "PATCH" | "HEAD" | "DELETE") =>
  ({ method, resource: "container", query: { resource: "filesystem" } }) as const;

function namespaceHeader({ features }: Pick<AnyDecisionContext, "features">) {
  return { "x-ms-namespace-enabled": String(features.hierarchicalNamespace === true) };
}

/** Create Container under its Data Lake name.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/filesystem/create */
export const createFilesystem: Operation = {
  ...createContainer,
  name: "Create Filesystem",
  ids: ["FileSystem_Create"],
  route: route("PUT"),
  since,
  params: { ...createContainer.params, metadata: newProperties },
  decide: withHeaders(createContainer.decide, namespaceHeader),
};

/** Get Container Properties under its Data Lake name.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/filesystem/get-properties */
export const getFilesystemProperties: Operation = {
  ...getContainerProperties,
  name: "Get Filesystem Properties",
  ids: ["FileSystem_GetProperties"],
  route: route("HEAD"),
  since,
  decide: withHeaders(getContainerProperties.decide, (context) => ({
    ...namespaceHeader(context),
    "x-ms-properties": formatProperties((context.target as ContainerRecord).metadata),
  })),
};

/** Set Container Metadata under its Data Lake name.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/filesystem/set-properties */
export const setFilesystemProperties: Operation = {
  ...setContainerMetadata,
  name: "Set Filesystem Properties",
  ids: ["FileSystem_SetProperties"],
  route: route("PATCH"),
  since,
  params: { metadata: newProperties },
};

/** Delete Container under its Data Lake name.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/filesystem/delete */
export const deleteFilesystem: Operation = {
  ...deleteContainer,
  name: "Delete Filesystem",
  ids: ["FileSystem_Delete"],
  route: route("DELETE"),
  since,
};

/** Azure's limit of filesystems in one page of the listing; the client requests the rest with a
 *  continuation token. */
const filesystemsMax = 5000;

/** Lists the filesystems (containers) of an account, as JSON.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/filesystem/list */
export const listFilesystems = pathOperation({
  name: "List Filesystems",
  ids: ["Service_ListFileSystems"],
  route: { method: "GET", resource: "service", query: { resource: "account" } },
  since,
  params: {
    prefix: query("prefix", nameText),
    continuation,
    maxResults,
  },
  permission: { letters: "l", resourceType: "s", sas: "account-only" },
  ...largeListing,
  reads: async (view, { scope, input }) => {
    const account = scope.account.id;
    const { prefix = "", continuation: token, maxResults: results = filesystemsMax } = input;
    const limit = Math.min(results, filesystemsMax);
    // The client's token is cut: a longer text would not fit into a key.
    const bounds = { prefix, from: token?.slice(0, resourceNameUnitsMax) ?? "", limit: limit + 1 };
    const found = await scanNames(view, containers, account, bounds, ([, name], record) => {
      return { name: name as string, record };
    });
    return { shown: found.slice(0, limit), next: found[limit]?.name };
  },
  decide: ({ readResult: { shown, next } }) => {
    const body = jsonListBody("filesystems", shown, ({ name, record: { etag } }) => {
      return { etag: bareETag(etag), lastModified: formatHttpDate(etag), name };
    });
    return {
      headers: { [continuationHeader]: next === undefined ? undefined : continuationOf(next) },
      body,
    };
  },
});
