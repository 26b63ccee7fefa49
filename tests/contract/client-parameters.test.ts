import { expect, it } from "vitest";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { blobService } from "../../src/blob/service.ts";
import { fileService } from "../../src/file/service.ts";
import { sourceHeaderNames } from "../../src/http/source/source-request.ts";
import type { Operation } from "../../src/operation/operation.ts";
import type { Service } from "../../src/operation/service.ts";
import { conditionHeaders } from "../../src/protocol/conditions.ts";
import { knownVersions } from "../../src/protocol/versions.ts";
import { queueService } from "../../src/queue/service.ts";
import { tableService } from "../../src/table/service.ts";
import { clientOperations, type ClientOperation, type ClientService } from "./client-operations.ts";

const services: Readonly<Record<ClientService, Service>> = {
  blob: blobService,
  dfs: dfsService,
  file: fileService,
  queue: queueService,
  table: tableService,
};

/** Operations of the libraries that have another id here, or that select one of several. */
const otherIds: Readonly<Record<string, readonly string[]>> = {
  "dfs Path_Create": ["dfs Path_Create", "dfs Rename Path"],
  "dfs Path_GetProperties": [
    "dfs Path_GetProperties",
    "dfs Get Access Control",
    "dfs Get Path Status",
  ],
  "dfs Path_AppendData": ["dfs Path_AppendData", "dfs Append Data And Flush"],
  "dfs Path_SetExpiry": ["blob Blob_SetExpiry"],
  "dfs Path_Undelete": ["blob Blob_Undelete"],
  "dfs FileSystem_ListBlobHierarchySegment": ["blob Container_ListBlobHierarchySegment"],
  "queue Queue_Clear": ["queue Messages_Clear"],
  "queue Queue_DeleteMessage": ["queue MessageId_Delete"],
  "queue Queue_PeekMessages": ["queue Messages_Peek"],
  "queue Queue_ReceiveMessages": ["queue Messages_Dequeue"],
  "queue Queue_SendMessage": ["queue Messages_Enqueue"],
  "queue Queue_UpdateMessage": ["queue MessageId_Update"],
  "queue Service_GetQueues": ["queue Service_ListQueuesSegment"],
  "table Table_MergeEntity": ["table Table_MergeEntity", "table Table_InsertOrMergeEntity"],
  "table Table_UpdateEntity": ["table Table_UpdateEntity", "table Table_InsertOrReplaceEntity"],
  "table Table_QueryEntitiesWithPartitionAndRowKey": [
    "table Table_QueryEntityWithPartitionAndRowKey",
  ],
};

interface Declaration {
  readonly service: ClientService;
  readonly operation: Operation;
}

/** The declarations that requests of a library's operation select. */
function declarationsOf({ service, id }: ClientOperation): readonly Declaration[] {
  const wanted = otherIds[`${service} ${id}`] ?? [`${service} ${id}`];
  return wanted.flatMap((each) => {
    const at = each.indexOf(" ");
    const name = each.slice(0, at) as ClientService;
    const { operations } = services[name];
    const isWanted = (text: string) => text.toLowerCase() === each.slice(at + 1).toLowerCase();
    const named = operations.filter((one) => one.ids.some(isWanted) || isWanted(one.name));
    // Variants that the address or a header selects have no ids of their own.
    const variants = operations.filter(
      (one) =>
        one.ids.length === 0 && named.some((other) => other !== one && other.name === one.name),
    );
    return [...new Set([...named, ...variants])].map((operation) => ({ service: name, operation }));
  });
}

/** The headers and query parameters that the server reads for an operation, in lower case; query
 *  parameters start with `?`. */
function parametersRead({ service, operation }: Declaration): ReadonlySet<string> {
  const { params, route, conditions, lease, body, namedResources = [] } = operation;
  const read = Object.values(params).flatMap(({ sources }) => sources);
  for (const { route: other } of services[service].operations) {
    if (other.resource !== route.resource || String(other.method) !== String(route.method))
      continue;
    // The router reads what distinguishes the operations of a method.
    read.push(...Object.keys(other.headers ?? {}));
    read.push(...Object.keys(other.query ?? {}).map((name) => `?${name}`));
  }
  if (conditions === "match") read.push("if-match");
  else if (conditions === "tags") read.push(...Object.values(conditionHeaders.blob));
  else if (conditions !== "none") read.push(...Object.values(conditionHeaders.plain));
  if (lease !== "none") read.push("x-ms-lease-id");
  if (body.kind === "source") {
    read.push(...sourceHeaderNames, "x-ms-source-content-md5", "x-ms-source-content-crc64");
    if (body.range !== "none") read.push(body.range);
  } else if (body.kind !== "none") {
    read.push("content-md5", "x-ms-content-crc64");
    read.push("x-ms-structured-body", "x-ms-structured-content-length");
  }
  for (const named of namedResources) if (named.kind !== "parts") read.push(named.parameter);
  read.push(...readForAll[service]);
  return new Set(read.map((name) => name.toLowerCase()));
}

/** Parameters that are read before the operation is known. */
const readForAll: Readonly<Record<ClientService, readonly string[]>> = {
  blob: ["?snapshot", "?versionid"],
  dfs: [],
  file: ["?sharesnapshot", "x-ms-file-request-intent"],
  queue: [],
  table: [],
};

/** What happens to a parameter that no declaration reads. `ignored`: the service ignores it as
 *  well, or it asks for nothing that this server could do otherwise. `not sent`: the library sends
 *  it only with another operation. */
type Treatment = readonly ["ignored" | "not sent", reason: string];

const forAllOperations: Readonly<Record<string, Treatment>> = {
  "x-ms-version": ["ignored", "read before the operation is known (http/request/target.ts)"],
  "x-ms-client-request-id": ["ignored", "returned with every response (http/render.ts)"],
  accept: ["ignored", "one representation, or read by the dialect or the route"],
  "content-length": ["ignored", "read with the body (http/request/body.ts)"],
  "content-type": ["ignored", "the operation determines the form of the body"],
  "?timeout": ["ignored", "the server has time limits of its own"],
  dataserviceversion: ["ignored", "all of its versions are answered alike"],
};

const renameOnly: Treatment = ["not sent", "sent only with x-ms-rename-source"];
const createOnly: Treatment = ["not sent", "sent only without x-ms-rename-source"];
const oneResource: Treatment = ["ignored", "the address names one table or entity"];
const noBody: Treatment = ["ignored", "the request has no body that it could describe"];

const all = (treatment: Treatment, ...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, treatment]));

const ofRenameSource = all(
  renameOnly,
  "x-ms-source-lease-id",
  ...Object.values(conditionHeaders.source).filter((name) => name !== "x-ms-source-if-tags"),
  "?continuation",
  "?mode",
);

/** By service and name of the declaration. */
const treatments: Readonly<Record<string, Readonly<Record<string, Treatment>>>> = {
  "blob Append Block From URL": { "content-md5": noBody },
  "blob Put Blob From URL": { "content-md5": noBody },
  "dfs Create File": ofRenameSource,
  "dfs Create Directory": ofRenameSource,
  "dfs Rename Path": all(
    createOnly,
    ...["cache-control", "content-encoding", "content-language", "content-disposition"].map(
      (name) => `x-ms-${name}`,
    ),
    ...["content-type", "permissions", "umask", "owner", "group", "acl", "proposed-lease-id"].map(
      (name) => `x-ms-${name}`,
    ),
    ...["lease-duration", "expiry-option", "expiry-time"].map((name) => `x-ms-${name}`),
    ...["key", "key-sha256", "algorithm", "context"].map((name) => `x-ms-encryption-${name}`),
  ),
  "dfs Get Path Status": { "?upn": ["ignored", "the response names no user"] },
  // That clears the range.
  "file Put Range": all(
    noBody,
    "content-md5",
    "x-ms-structured-body",
    "x-ms-structured-content-length",
  ),
  "file Create Symbolic Link": {
    "x-ms-lease-id": ["ignored", "the name must be free, so nothing can be leased"],
  },
  "table Query Tables": all(oneResource, "?$top", "?$select", "?$filter", "?nexttablename"),
  "table Query Entities": { "?$filter": oneResource },
  // Of a path that can name no entity: 404 in any case.
  "table Delete Entity": all(oneResource, "if-match", "?$format"),
};

/** Operations of the generated code that the library itself never sends. */
const unused: ReadonlySet<string> = new Set(["dfs Path_Update"]);

interface Unread {
  readonly key: string;
  readonly parameter: string;
}

function unreadParameters(sent: ClientOperation): readonly Unread[] {
  const names = [...sent.headers, ...sent.queries.map((name) => `?${name}`)];
  return declarationsOf(sent).flatMap((declaration) => {
    const read = parametersRead(declaration);
    const key = `${declaration.service} ${declaration.operation.name}`;
    return names
      .map((name) => name.toLowerCase())
      .filter((name) => !read.has(name) && forAllOperations[name] === undefined)
      .map((parameter) => ({ key, parameter }));
  });
}

const sent = (await clientOperations()).filter(
  ({ service, id }) => !unused.has(`${service} ${id}`),
);
const unread = sent.flatMap(unreadParameters);

it("every operation of the official libraries has a declaration", () => {
  expect(sent.length).toBeGreaterThan(150);
  const missing = sent.filter((operation) => declarationsOf(operation).length === 0);
  expect(missing.map(({ service, id }) => `${service} ${id}`)).toEqual([]);
});

it("every parameter of the official libraries is read or has a treatment", () => {
  const silent = unread.filter(({ key, parameter }) => treatments[key]?.[parameter] === undefined);
  expect([...new Set(silent.map(({ key, parameter }) => `${key}: ${parameter}`))]).toEqual([]);
});

it("no treatment is left of a parameter that is read or no longer sent", () => {
  const stale = Object.entries(treatments).flatMap(([key, parameters]) =>
    Object.keys(parameters)
      .filter((name) => !unread.some((each) => each.key === key && each.parameter === name))
      .map((name) => `${key}: ${name}`),
  );
  expect(stale).toEqual([]);
});

/** What the versions from 2024-11-04 on brought, from their change logs: declarations with the
 *  parameters that they read since then. */
const broughtBy: Readonly<
  Record<string, readonly (readonly [declaration: string, ...string[]])[]>
> = {
  "2024-11-04": [
    ["file Create Permission", "x-ms-file-permission-format"],
    ["file Create File", "x-ms-file-permission-format"],
  ],
  "2025-01-05": [["file Create Share", "x-ms-share-provisioned-iops"]],
  "2025-05-05": [
    ["file Create File", "x-ms-mode", "x-ms-owner", "x-ms-group"],
    ["file Create Hard Link", "x-ms-file-target-file"],
  ],
  "2025-07-05": [
    ["file Create Symbolic Link", "x-ms-link-text"],
    ["file Get Symbolic Link"],
    ["blob Put Blob From URL", "x-ms-file-request-intent"],
  ],
  "2025-11-05": [],
  "2026-02-06": [
    ["blob List Blobs", "?startfrom"],
    ["blob Get Blob Tags", "x-ms-blob-if-match"],
    ["blob Set Blob Tags", "x-ms-blob-if-match"],
    ["dfs List Paths", "?beginfrom"],
    ["file Get User Delegation Key"],
    ["queue Get User Delegation Key"],
  ],
  "2026-04-06": [
    ["blob Delete Blob", "x-ms-access-tier-if-modified-since"],
    ["blob Delete Blob", "x-ms-access-tier-if-unmodified-since"],
    ["blob Put Blob From URL", "x-ms-source-encryption-key"],
    ["blob Put Blob", "x-ms-structured-body"],
    ["blob Get Blob", "x-ms-structured-body"],
    ["dfs Append Data", "x-ms-structured-body"],
    ["file Put Range", "x-ms-structured-body"],
  ],
  "2026-06-06": [
    ["blob Create Session"],
    ["file Create File", "x-ms-file-property-semantics", "content-md5"],
    ["file Create Directory", "x-ms-file-property-semantics"],
  ],
  "2026-10-06": [
    ["blob List Blobs (Apache Arrow)", "?endbefore"],
    ["file List Ranges", "?marker", "?maxresults"],
  ],
  "2026-12-06": [],
};

it.each(knownVersions.filter((version) => version >= "2024-11-04"))(
  "%s has its parameters",
  (version) => {
    const brought = broughtBy[version] ?? [["", "a list of what it brought"]];
    const missing = brought.flatMap(([declaration, ...parameters]) => {
      const at = declaration.indexOf(" ");
      const service = declaration.slice(0, Math.max(at, 0)) as ClientService;
      const named = services[service]?.operations.filter(
        ({ name }) => name === declaration.slice(at + 1),
      );
      if (named === undefined || named.length === 0) return [declaration];
      const read = named.map((operation) => parametersRead({ service, operation }));
      return parameters.filter((name) => !read.some((each) => each.has(name)));
    });
    expect(missing).toEqual([]);
  },
);
