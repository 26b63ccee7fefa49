import { describe, expect, it } from "vitest";
import type { FileOperation } from "../../src/file/file-operation.ts";
import { operations } from "../../src/file/operations.ts";

/** Every operation of the published interface, by its ids. */
const ids = [
  "Directory_Create",
  "Directory_Delete",
  "Directory_ForceCloseHandles",
  "Directory_GetMetadata_GET",
  "Directory_GetMetadata_HEAD",
  "Directory_GetProperties",
  "Directory_ListFilesAndDirectoriesSegment",
  "Directory_ListHandles",
  "Directory_Rename",
  "Directory_SetMetadata",
  "Directory_SetProperties",
  "File_AbortCopy",
  "File_AcquireLease",
  "File_BreakLease",
  "File_ChangeLease",
  "File_Create",
  "File_CreateHardLink",
  "File_CreateSymbolicLink",
  "File_Delete",
  "File_Download",
  "File_ForceCloseHandles",
  "File_GetMetadata_GET",
  "File_GetMetadata_HEAD",
  "File_GetProperties",
  "File_GetRangeList",
  "File_GetSymbolicLink",
  "File_ListHandles",
  "File_ReleaseLease",
  "File_Rename",
  "File_SetHTTPHeaders",
  "File_SetMetadata",
  "File_StartCopy",
  "File_UploadRange",
  "File_UploadRangeFromURL",
  "Preflight",
  "Service_GetProperties",
  "Service_GetUserDelegationKey",
  "Service_ListSharesSegment",
  "Service_SetProperties",
  "Share_AcquireLease",
  "Share_BreakLease",
  "Share_ChangeLease",
  "Share_Create",
  "Share_CreatePermission",
  "Share_CreateSnapshot",
  "Share_Delete",
  "Share_GetAccessPolicy",
  "Share_GetMetadata_GET",
  "Share_GetMetadata_HEAD",
  "Share_GetPermission",
  "Share_GetProperties",
  "Share_GetStatistics",
  "Share_ReleaseLease",
  "Share_RenewLease",
  "Share_Restore",
  "Share_SetAccessPolicy",
  "Share_SetMetadata",
  "Share_SetProperties",
];

/** They create their target, so no client can have it open. */
const makers = new Set(["Create Directory", "Create Symbolic Link", "Create Hard Link"]);

describe("6 file", () => {
  it("has every operation of the published interface", () => {
    const declared = new Set(operations.flatMap((operation) => operation.ids));
    expect([...declared].toSorted()).toEqual(ids);
  });

  it("declares the access to a present target for every operation on files and directories", () => {
    const resources = new Set(["file", "directory", "entry"]);
    const touching = operations.filter(({ route }) => resources.has(route.resource));
    const without = touching.filter((operation) => {
      const { fileAccess = "none" } = operation as Partial<FileOperation>;
      return fileAccess === "none";
    });
    expect(new Set(without.map(({ name }) => name))).toEqual(makers);
  });

  it("declares no conditional headers", () => {
    expect(operations.filter(({ conditions }) => conditions !== "none")).toEqual([]);
  });

  it("requires the lease id for writes to leased files", () => {
    const writers = operations.filter(
      ({ route, effect }) => route.resource === "file" && effect === "writes",
    );
    const careless = writers.filter(({ lease }) => lease === "none" || lease === "match-if-given");
    expect(careless.map(({ name }) => name).filter((name) => !makers.has(name))).toEqual([]);
  });
});
