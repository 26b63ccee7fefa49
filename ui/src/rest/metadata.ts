import { failed, mapped, type Result } from "../result.ts";
import { metadataHeaders, metadataIn } from "./blob.ts";
import { request } from "./request.ts";

/** A queue, share, file or directory: what has metadata, but no conditional headers. */
export interface MetadataOwner {
  readonly service: "queue" | "file";
  /** The account and the names below it. */
  readonly path: readonly [account: string, ...names: string[]];
  readonly restype?: "share" | "directory" | undefined;
  readonly snapshot?: string | undefined;
}

type Pairs = Readonly<Record<string, string>>;

/** The properties with the metadata. */
export async function getOwner(
  { service, path, restype, snapshot }: MetadataOwner,
  signal?: AbortSignal,
): Promise<Result<Headers>> {
  const comp = service === "queue" ? "metadata" : undefined;
  const query = { restype, comp, sharesnapshot: snapshot };
  const answer = await request(service, path, { method: "HEAD", query, signal });
  return mapped(answer, ({ headers }) => headers);
}

/** Replaces metadata that is still as it was shown. The service cannot compare it in the same
 *  request, so that a change of another client within these milliseconds is overwritten. */
export async function replaceMetadata(
  owner: MetadataOwner,
  { shown, next }: { readonly shown: Pairs; readonly next: Pairs },
): Promise<Result<unknown>> {
  const present = await getOwner(owner);
  if (!present.ok) return present;
  if (textOf(metadataIn(present.value)) !== textOf(shown)) {
    const message = "Another client has changed the metadata: load it again";
    return failed({ status: 412, code: "ConditionNotMet", message });
  }
  const { service, path, restype } = owner;
  const query = { restype, comp: "metadata" };
  return request(service, path, { method: "PUT", query, headers: metadataHeaders(next) });
}

function textOf(pairs: Pairs): string {
  return JSON.stringify(Object.entries(pairs).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Changes the quota of a share. */
export function setShareQuota(
  path: MetadataOwner["path"],
  gibibytes: string,
): Promise<Result<unknown>> {
  return request("file", path, {
    method: "PUT",
    query: { restype: "share", comp: "properties" },
    headers: { "x-ms-share-quota": gibibytes },
  });
}
