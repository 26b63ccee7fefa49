import { mapped, type Result } from "../result.ts";
import { conditionHeaders, pathOf, type BlobPlace, type Condition } from "./blob.ts";
import { request } from "./request.ts";

export interface Deletion {
  readonly condition?: Condition;
  readonly withSnapshots?: boolean;
  readonly ifTags?: string | undefined;
  readonly signal?: AbortSignal;
}

export function deleteBlob(
  place: BlobPlace,
  { condition = {}, withSnapshots = true, ifTags, signal }: Deletion = {},
): Promise<Result<unknown>> {
  const isBase = place.snapshot === undefined && place.version === undefined;
  return request("blob", pathOf(place), {
    method: "DELETE",
    query: { snapshot: place.snapshot, versionid: place.version },
    headers: {
      ...conditionHeaders(condition),
      "x-ms-delete-snapshots": isBase && withSnapshots ? "include" : undefined,
      "x-ms-if-tags": ifTags,
    },
    signal,
  });
}

export function undeleteBlob(place: BlobPlace): Promise<Result<unknown>> {
  return request("blob", pathOf(place), { method: "PUT", query: { comp: "undelete" } });
}

export async function snapshotBlob(place: BlobPlace): Promise<Result<string>> {
  const answer = await request("blob", pathOf(place), {
    method: "PUT",
    query: { comp: "snapshot" },
  });
  return mapped(answer, ({ headers }) => headers.get("x-ms-snapshot") ?? "");
}

export function setTier(place: BlobPlace, tier: string): Promise<Result<unknown>> {
  return request("blob", pathOf(place), {
    method: "PUT",
    query: { comp: "tier", snapshot: place.snapshot, versionid: place.version },
    headers: { "x-ms-access-tier": tier },
  });
}
