import { beforeEach, describe, expect, test } from "vitest";
import type { BlobPolicy } from "../../src/blob/blob-policy.ts";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { blobService } from "../../src/blob/service.ts";
import type { FileOperation } from "../../src/file/file-operation.ts";
import { fileService } from "../../src/file/service.ts";
import type { Operation } from "../../src/operation/operation.ts";
import { loggedEvents, startEventLog } from "../harness/event-log.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simBlob } from "../harness/sim-blob.ts";
import { simFile } from "../harness/sim-file.ts";
import { signedUrl } from "../harness/file-steps.ts";
import type { SimResponse, SimService } from "../harness/sim-service.ts";

/** An operation whose changes are no events, and why. */
interface NoEvent {
  readonly why: string;
}

/** Requests that change something, of which the last one is the operation; and its event. */
interface Example {
  readonly calls: readonly RawCall[];
  readonly event: string;
}

type Case = NoEvent | Example;

const none = (why: string): NoEvent => ({ why });
const lease = none("a lease changes no blob, path or file; Azure has no event of it");
const partial = none("the content is not complete before a commit or flush; Azure has no event");
const inPlace = none("Azure has no event of changes of append and page blobs in place");
const protection = none(
  "Azure has no event of expiry times, legal holds and immutability policies",
);
const access = none("Azure has no event of access control lists");

const call = (method: string, path: string, headers: RawCall["headers"] = {}, body?: string) =>
  ({ method, path, headers, ...(body !== undefined && { body }) }) satisfies RawCall;
const put = (path: string, headers?: RawCall["headers"], body?: string) =>
  call("PUT", path, headers, body);
const example = (event: string, ...calls: readonly RawCall[]): Example => ({ calls, event });

const local = "http://127.0.0.1/devstoreaccount1";
const block = { "x-ms-blob-type": "BlockBlob" };
const page = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" };
const blob = put("/box/a", block, "hello");
const blockId = Buffer.from("1").toString("base64");
const tags = "<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>";
const source = { "x-ms-copy-source": `${local}/box/a` };
const tier = (name: string) => put("/box/a?comp=tier", { "x-ms-access-tier": name });

/** By the first id of the operation. */
const blobCases: Readonly<Record<string, Case>> = {
  BlockBlob_Upload: example("BlobCreated/PutBlob", blob),
  AppendBlob_Create: example(
    "BlobCreated/PutBlob",
    put("/box/a", { "x-ms-blob-type": "AppendBlob" }),
  ),
  PageBlob_Create: example("BlobCreated/PutBlob", put("/box/a", page)),
  AppendBlob_AppendBlock: inPlace,
  AppendBlob_AppendBlockFromUrl: inPlace,
  AppendBlob_Seal: inPlace,
  PageBlob_UploadPages: inPlace,
  PageBlob_ClearPages: inPlace,
  PageBlob_UploadPagesFromURL: inPlace,
  BlockBlob_PutBlobFromUrl: example(
    "BlobCreated/PutBlob",
    blob,
    put("/box/b", { ...block, ...source }),
  ),
  Blob_CopyFromURL: example(
    "BlobCreated/CopyBlob",
    blob,
    put("/box/b", { ...source, "x-ms-requires-sync": "true" }),
  ),
  Blob_StartCopyFromURL: example("BlobCreated/CopyBlob", blob, put("/box/b", source)),
  Blob_AbortCopyFromURL: none("needs a copy that is pending: tests/copy"),
  PageBlob_CopyIncremental: none("needs a signed snapshot of another server: tests/copy"),
  Blob_SetHTTPHeaders: example(
    "BlobPropertiesUpdated/SetBlobProperties",
    blob,
    put("/box/a?comp=properties"),
  ),
  Blob_SetMetadata: example(
    "BlobPropertiesUpdated/SetBlobMetadata",
    blob,
    put("/box/a?comp=metadata"),
  ),
  Blob_CreateSnapshot: example(
    "BlobSnapshotCreated/SnapshotBlob",
    blob,
    put("/box/a?comp=snapshot"),
  ),
  Blob_AcquireLease: lease,
  Blob_BreakLease: lease,
  Blob_Delete: example("BlobDeleted/DeleteBlob", blob, call("DELETE", "/box/a")),
  Blob_Undelete: example(
    "BlobCreated/UndeleteBlob",
    blob,
    call("DELETE", "/box/a"),
    put("/box/a?comp=undelete"),
  ),
  Blob_SetExpiry: protection,
  BlockBlob_StageBlock: partial,
  BlockBlob_StageBlockFromURL: partial,
  BlockBlob_CommitBlockList: example(
    "BlobCreated/PutBlockList",
    put(`/box/a?comp=block&blockid=${blockId}`, {}, "x"),
    put("/box/a?comp=blocklist", {}, `<BlockList><Latest>${blockId}</Latest></BlockList>`),
  ),
  Blob_SetTags: example(
    "BlobPropertiesUpdated/SetBlobTags",
    blob,
    put("/box/a?comp=tags", {}, tags),
  ),
  Blob_SetTier: example("BlobTierChanged/SetBlobTier", blob, tier("Cool")),
  Blob_SetImmutabilityPolicy: protection,
  Blob_DeleteImmutabilityPolicy: protection,
  Blob_SetLegalHold: protection,
};

const renamed = { "x-ms-rename-source": "/box/f" };
const path = put("/box/f?resource=file");
const append = call("PATCH", "/box/f?action=append&position=0", {}, "x");
const flush = (more: string) => call("PATCH", `/box/f?action=flush&position=1${more}`);

/** Of an account with a hierarchical namespace. */
const pathCases: Readonly<Record<string, Case>> = {
  "Create File": example("BlobCreated/CreateFile", path),
  "Create Directory": example("DirectoryCreated/CreateDirectory", put("/box/d?resource=directory")),
  "Rename Path": example("BlobRenamed/RenameFile", path, put("/box/g", renamed)),
  "Append Data": partial,
  "Append Data And Flush": none("as a flush without close, which Azure has no event of"),
  "Flush Data": example("BlobCreated/FlushWithClose", path, append, flush("&close=true")),
  "Set Path Properties": example(
    "BlobPropertiesUpdated/SetBlobProperties",
    path,
    call("PATCH", "/box/f?action=setProperties", { "x-ms-properties": "k=dg==" }),
  ),
  "Set Access Control": access,
  "Set Access Control Recursive": access,
  "Lease Path": lease,
  "Delete Path": example("BlobDeleted/DeleteFile", path, call("DELETE", "/box/f")),
};

const file = put("/box/f", { "x-ms-type": "file", "x-ms-content-length": "10" });
const directory = put("/box/d?restype=directory");
const own = signedUrl("/box/f");

const fileCases: Readonly<Record<string, Case>> = {
  Directory_Create: example("FileDirectoryCreated/CreateDirectory", directory),
  Directory_SetProperties: example(
    "FileDirectoryPropertiesUpdated/SetDirectoryProperties",
    directory,
    put("/box/d?restype=directory&comp=properties", { "x-ms-file-attributes": "Directory" }),
  ),
  Directory_SetMetadata: example(
    "FileDirectoryPropertiesUpdated/SetDirectoryMetadata",
    directory,
    put("/box/d?restype=directory&comp=metadata", { "x-ms-meta-k": "v" }),
  ),
  Directory_Delete: example(
    "FileDirectoryDeleted/DeleteDirectory",
    directory,
    call("DELETE", "/box/d?restype=directory"),
  ),
  File_Create: example("FileCreated/CreateFile", file),
  File_SetHTTPHeaders: example(
    "FilePropertiesUpdated/SetFileProperties",
    file,
    put("/box/f?comp=properties"),
  ),
  File_SetMetadata: example(
    "FilePropertiesUpdated/SetFileMetadata",
    file,
    put("/box/f?comp=metadata", { "x-ms-meta-k": "v" }),
  ),
  File_AcquireLease: lease,
  File_BreakLease: lease,
  File_Delete: example("FileDeleted/DeleteFile", file, call("DELETE", "/box/f")),
  PutRange: example(
    "FileContentUpdated/PutRange",
    file,
    put("/box/f?comp=range", { "x-ms-write": "update", range: "bytes=0-0" }, "x"),
  ),
  ClearRange: example(
    "FileContentUpdated/ClearRange",
    file,
    put("/box/f?comp=range", { "x-ms-write": "clear", range: "bytes=0-0" }),
  ),
  File_UploadRangeFromURL: none("needs a signed source: tests/copy"),
  File_StartCopy: example("FileCreated/CopyFile", file, put("/box/g", { "x-ms-copy-source": own })),
  File_AbortCopy: none("needs a copy that is pending: tests/copy"),
  File_Rename: example(
    "FileRenamed/RenameFile",
    file,
    put("/box/g?comp=rename", { "x-ms-file-rename-source": own }),
  ),
  Directory_Rename: example(
    "FileDirectoryRenamed/RenameDirectory",
    directory,
    put("/box/e?restype=directory&comp=rename", {
      "x-ms-file-rename-source": signedUrl("/box/d"),
    }),
  ),
  Directory_ForceCloseHandles: none("the closed handles are events: tests/events/file-events"),
  File_CreateHardLink: example(
    "FileCreated/CreateHardLink",
    put("/nfs/f", { "x-ms-type": "file", "x-ms-content-length": "0" }),
    put("/nfs/g?restype=hardlink", { "x-ms-file-target-file": "/f" }),
  ),
  File_CreateSymbolicLink: example(
    "FileCreated/CreateSymbolicLink",
    put("/nfs/g?restype=symboliclink", { "x-ms-link-text": "f" }),
  ),
};

const changing = (operations: readonly Operation[], resources: readonly string[]) =>
  operations.filter(
    ({ effect, route }) => effect === "writes" && resources.includes(route.resource),
  );

interface World {
  readonly sim: SimService;
  readonly send: (call: RawCall) => Promise<SimResponse>;
}

const recent = { "x-ms-version": "2025-07-05" };

const softDelete =
  "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>1</Days>" +
  "</DeleteRetentionPolicy></StorageServiceProperties>";

/** Whether the last request appends exactly its event, and those before it each one. */
async function check({ sim, send }: World, { calls, event }: Example): Promise<void> {
  await startEventLog(sim.store);
  for (const each of calls) {
    const before = (await loggedEvents(sim.store)).length;
    const answer = await send({ ...each, headers: { ...recent, ...each.headers } });
    expect({ ...each, status: answer.status, body: answer.body }).toMatchObject({
      status: expect.toSatisfy((status: number) => status < 300),
    });
    const appended = (await loggedEvents(sim.store)).slice(before);
    const isStep = /comp=block&|action=append/.test(each.path);
    expect(appended).toHaveLength(isStep ? 0 : 1);
    if (each !== calls.at(-1)) continue;
    expect(appended.map(({ type, api }) => `${type}/${api}`)).toEqual([event]);
  }
}

describe.each([
  ["blobs", blobService.operations, ["blob"], blobCases],
  ["paths", dfsService.operations, ["blob"], pathCases],
  ["files", fileService.operations, ["file", "directory", "entry"], fileCases],
] as const)("operations on %s", (kind, operations, resources, cases) => {
  const eventOf = (operation: Operation): string =>
    kind === "files" ? (operation as FileOperation).event : (operation.policy as BlobPolicy).event;
  const keyOf = (operation: Operation): string => {
    const { name, ids } = operation;
    if (kind === "paths") return name;
    return name === "Put Range" ? eventOf(operation) : (ids[0] ?? "");
  };
  // Variants of an operation without an id of their own are declared with it.
  const declared = changing(operations, resources).filter((each) => keyOf(each) !== "");
  let world: World;

  beforeEach(async () => {
    if (kind === "files") {
      const sim = await simFile();
      await sim.send(put("/box?restype=share"));
      await sim.send(put("/nfs?restype=share", { "x-ms-enabled-protocols": "NFS" }));
      world = { sim, send: (sent) => sim.send(sent) };
      return;
    }
    const sim = await simBlob({ hierarchicalNamespace: kind === "paths" });
    await sim.send(put("/?restype=service&comp=properties", {}, softDelete));
    await sim.send(put("/box?restype=container", { "x-ms-blob-public-access": "blob" }));
    const isPath = kind === "paths";
    world = { sim, send: (sent) => (isPath ? sim.sendToDfs(sent) : sim.send(sent)) };
  });

  test("are all listed here", () => {
    const listed = Object.keys(cases).toSorted();
    expect([...new Set(declared.map(keyOf))].toSorted()).toEqual(listed);
  });

  test.each(declared.map((each) => [keyOf(each), each] as const))(
    "%s appends one event, or says why not",
    async (key, operation) => {
      const given: Case = cases[key]!;
      if ("calls" in given) return check(world, given);
      expect(given.why).not.toBe("");
      const isExecutedElsewhere = given.why.includes("tests/");
      expect(eventOf(operation) === "none").toBe(!isExecutedElsewhere);
    },
  );
});
