import { describe, expect, it } from "vitest";
import { operations } from "../../src/blob/operations.ts";

/** Every published operation, by its id in the interface documents. */
const ids = `
AppendBlob_AppendBlock AppendBlob_AppendBlockFromUrl AppendBlob_Create AppendBlob_Seal
Blob_AbortCopyFromURL Blob_AcquireLease Blob_BreakLease Blob_ChangeLease Blob_CopyFromURL
Blob_CreateSnapshot Blob_Delete Blob_DeleteImmutabilityPolicy Blob_Download Blob_GetAccountInfo
Blob_GetProperties Blob_GetTags Blob_Query Blob_ReleaseLease Blob_RenewLease Blob_SetExpiry
Blob_SetHTTPHeaders Blob_SetImmutabilityPolicy Blob_SetLegalHold Blob_SetMetadata Blob_SetTags
Blob_SetTier Blob_StartCopyFromURL Blob_Undelete BlockBlob_CommitBlockList
BlockBlob_GetBlockList BlockBlob_PutBlobFromUrl BlockBlob_StageBlock BlockBlob_StageBlockFromURL
BlockBlob_Upload Container_AcquireLease Container_BreakLease Container_ChangeLease
Container_Create Container_Delete Container_FilterBlobs Container_GetAccessPolicy
Container_GetAccountInfo Container_GetProperties Container_ListBlobFlatSegment
Container_ListBlobHierarchySegment Container_ReleaseLease Container_Rename Container_RenewLease
Container_Restore Container_SetAccessPolicy Container_SetMetadata Container_SubmitBatch
PageBlob_ClearPages PageBlob_CopyIncremental PageBlob_Create PageBlob_GetPageRanges
PageBlob_GetPageRangesDiff PageBlob_Resize PageBlob_UpdateSequenceNumber PageBlob_UploadPages
Blob_GetMetadata_GET Blob_GetMetadata_HEAD Container_GetAccessPolicy_HEAD
Container_GetMetadata_GET Container_GetMetadata_HEAD PageBlob_UploadPagesFromURL
Preflight Service_FilterBlobs Service_GetAccountInfo
Service_GetProperties Service_GetStatistics Service_GetUserDelegationKey
Service_ListContainersSegment Service_SetProperties Service_SubmitBatch StaticWebsite_Get
`
  .trim()
  .split(/\s+/);

describe("3 blob operations", () => {
  const declared = new Set(operations.flatMap((operation) => operation.ids));
  it.each(ids)("%s is declared", (id) => {
    expect(declared).toContain(id);
  });
});
