/** The tables of section 3 of the contract: declared properties of each operation. */
export interface ContractRow {
  readonly operation: string;
  readonly returnsETag: boolean;
  readonly conditions: boolean;
}

const yes = true;
const no = false;

function row(operation: string, returnsETag: boolean, conditions: boolean): ContractRow {
  return { operation, returnsETag, conditions };
}

export const containerRows: readonly ContractRow[] = [
  row("Create Container", yes, no),
  row("Get Container Properties", yes, no),
  row("Get Container Metadata", yes, no),
  row("Set Container Metadata", yes, yes),
  row("Get Container ACL", yes, no),
  row("Set Container ACL", yes, yes),
  row("Delete Container", no, yes),
  row("Lease Container", yes, yes),
  row("List Blobs", no, no),
];

export const blobRows: readonly ContractRow[] = [
  row("Put Blob", yes, yes),
  row("Get Blob", yes, yes),
  row("Get Blob Properties", yes, yes),
  row("Set Blob Properties", yes, yes),
  row("Get Blob Metadata", yes, yes),
  row("Set Blob Metadata", yes, yes),
  row("Lease Blob", yes, yes),
  row("Snapshot Blob", yes, yes),
  row("Copy Blob", yes, yes),
  row("Abort Copy Blob", no, no),
  row("Delete Blob", no, yes),
  row("Put Block", no, no),
  row("Put Block List", yes, yes),
  row("Get Block List", yes, no),
  row("Put Page", yes, yes),
  row("Get Page Ranges", yes, yes),
];

/** Section 3, leases: operations that accept a lease id. */
export const blobLeaseOperations: readonly string[] = [
  "Put Blob",
  "Get Blob",
  "Get Blob Properties",
  "Set Blob Properties",
  "Get Blob Metadata",
  "Set Blob Metadata",
  "Delete Blob",
  "Put Block",
  "Put Block List",
  "Get Block List",
  "Put Page",
  "Get Page Ranges",
  "Snapshot Blob",
  "Copy Blob",
  "Abort Copy Blob",
  "Lease Blob",
];

export const containerLeaseOperations: readonly string[] = [
  "Delete Container",
  "Get Container Properties",
  "Get Container Metadata",
  "Set Container Metadata",
  "Get Container ACL",
  "Set Container ACL",
  "Lease Container",
];
