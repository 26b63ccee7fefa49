import { mapped, type Result } from "../result.ts";
import { conditionHeaders, pathOf, type BlobAddress, type Condition } from "./blob.ts";
import { request } from "./request.ts";

interface Deletion {
  readonly condition?: Condition;
  readonly withSnapshots?: boolean;
  readonly ifTags?: string | undefined;
  readonly signal?: AbortSignal;
}

export function deleteBlob(
  address: BlobAddress,
  { condition = {}, withSnapshots = true, ifTags, signal }: Deletion = {},
): Promise<Result<unknown>> {
  const isBase = address.snapshot === undefined && address.version === undefined;
  return request("blob", pathOf(address), {
    method: "DELETE",
    query: { snapshot: address.snapshot, versionid: address.version },
    headers: {
      ...conditionHeaders(condition),
      "x-ms-delete-snapshots": isBase && withSnapshots ? "include" : undefined,
      "x-ms-if-tags": ifTags,
    },
    signal,
  });
}

export function undeleteBlob(address: BlobAddress): Promise<Result<unknown>> {
  return request("blob", pathOf(address), { method: "PUT", query: { comp: "undelete" } });
}

export async function snapshotBlob(address: BlobAddress): Promise<Result<string>> {
  const answer = await request("blob", pathOf(address), {
    method: "PUT",
    query: { comp: "snapshot" },
  });
  return mapped(answer, ({ headers }) => headers.get("x-ms-snapshot") ?? "");
}

export function setTier(address: BlobAddress, tier: string): Promise<Result<unknown>> {
  return request("blob", pathOf(address), {
    method: "PUT",
    query: { comp: "tier", snapshot: address.snapshot, versionid: address.version },
    headers: { "x-ms-access-tier": tier },
  });
}
