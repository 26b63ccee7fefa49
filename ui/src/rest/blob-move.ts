import { done, failed, mapped, type Result } from "../result.ts";
import {
  conditionHeaders,
  getProperties,
  getKeptTags,
  pathOf,
  tagsCondition,
  type BlobAddress,
  type Condition,
} from "./blob.ts";
import { deleteBlob } from "./blob-actions.ts";
import { request, sourceAddress } from "./request.ts";
import { waitForCopy } from "./wait-for-copy.ts";

export interface CopySource extends BlobAddress {
  /** The state to copy; another one is rejected with 412. */
  readonly etag: string;
  /** The access tier of the copy; undefined for that of the account. */
  readonly tier?: string | undefined;
}

interface CopyOptions {
  /** Whether an existing destination is replaced: the state that exists when the copy begins. */
  readonly mayReplace?: boolean;
  /** The required state of the destination, instead of `mayReplace`. */
  readonly condition?: Condition;
  readonly signal?: AbortSignal | undefined;
}

interface Copied {
  readonly etag: string;
  readonly isReplacing: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

/** Copies content, headers, metadata, tags and tier of one state of a blob. */
export async function copyBlobState(
  from: CopySource,
  to: BlobAddress,
  { mayReplace = false, signal, ...given }: CopyOptions,
): Promise<Result<Copied>> {
  const source = await sourceAddress(pathOf(from), {
    snapshot: from.snapshot,
    versionid: from.version,
  });
  if (!source.ok) return source;
  const tagged = await getKeptTags(from, signal);
  if (!tagged.ok) return tagged;
  const tags = tagged.value;
  const condition = given.condition ?? (await destinationCondition(to, mayReplace));
  const answer = await request("blob", pathOf(to), {
    method: "PUT",
    headers: {
      "x-ms-copy-source": source.value,
      "x-ms-source-if-match": from.etag || undefined,
      "x-ms-tags": Object.keys(tags).length === 0 ? undefined : String(new URLSearchParams(tags)),
      "x-ms-access-tier": from.tier,
      ...conditionHeaders(condition),
    },
    signal,
  });
  if (!answer.ok) return answer;
  const { headers } = answer.value;
  const isReplacing = condition.ifMatch !== undefined;
  if (headers.get("x-ms-copy-status") !== "pending") {
    return done({ etag: headers.get("etag") ?? "", isReplacing, tags });
  }
  const finished = await waitForCopy(headers.get("x-ms-copy-id"), async () =>
    mapped(await getProperties(to, signal), (state) => state.headers),
  );
  return mapped(finished, (last) => ({ etag: last.get("etag") ?? "", isReplacing, tags }));
}

async function destinationCondition(to: BlobAddress, mayReplace: boolean): Promise<Condition> {
  const present = mayReplace ? await getProperties(to) : undefined;
  return present?.ok === true ? { ifMatch: present.value.etag } : { ifNoneMatch: "*" };
}

/**
 * Moves a blob: copies the given state, and deletes the source only if it still has that state. If
 * the source cannot be deleted, a new copy is removed again, so that nothing has changed.
 */
export async function moveBlob(
  from: CopySource,
  to: BlobAddress,
  options: CopyOptions,
): Promise<Result<unknown>> {
  const isSame = from.account === to.account && from.container === to.container;
  if (isSame && from.name === to.name) {
    return failed({ status: 400, code: "SameName", message: "Source and target are the same" });
  }
  const copied = await copyBlobState(from, to, options);
  if (!copied.ok) return copied;
  const { etag, isReplacing, tags } = copied.value;
  const removed = await deleteBlob(from, {
    condition: { ifMatch: from.etag },
    withSnapshots: false,
    ifTags: tagsCondition(tags),
  });
  if (removed.ok) return removed;
  if (!isReplacing) await deleteBlob(to, { condition: { ifMatch: etag }, withSnapshots: false });
  const { failure } = removed;
  if (failure.code !== "SnapshotsPresent") return removed;
  return failed({ ...failure, message: "The blob has snapshots, which cannot be moved" });
}
