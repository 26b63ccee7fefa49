import type { Ticks } from "../../base/ticks.ts";
import type { Runtime } from "../../operation/work.ts";
import { accountUsage, type AccountQuota } from "../../operation/quotas.ts";
import type { RecordView } from "../../operation/view.ts";
import type { LockState } from "../locks/lock-state.ts";
import { nodes, permissions, type NodeRecord, type ShareRecord } from "../records.ts";
import { quotaBytes, usedBytes } from "../shared/limits.ts";
import { rootSddl, wellKnownSddl } from "../shared/sddl.ts";
import { pathOf, rootKey } from "../share-tree.ts";
import { executeAtOnce, type SmbOperation, callAtOnce } from "./execute-operation.ts";
import { done, type FileResult } from "./file-result.ts";
import {
  handleOperation,
  loadShare,
  type HandleRequest,
  type LoadedNode,
} from "./handle-operation.ts";
import type { FileReference, ShareAddress } from "./file-reference.ts";
import { childrenOf, type Child } from "../directory/children.ts";
import { emptyContent, type Slice } from "../../content/content-ref.ts";
import type { ContentReader } from "../../content/content.ts";
import { handleAccess } from "../locks/file-access.ts";
import type { Span } from "../../protocol/ranges.ts";
import { spanInside } from "../range/write-rules.ts";
import { sectorsOf, slicesOf, intervalsOf, type Interval } from "../range/list-ranges.ts";

/** The file operations of SMB clients that only read: information, listings and bytes. */

/** What the responses to QUERY_INFO on a file are made of (`smb/operations/info.ts`). */
export interface FileInfo {
  readonly share: ShareRecord;
  readonly node: NodeRecord;
  readonly locks: LockState;
  /** Names from the root down to the file. */
  readonly path: readonly string[];
}

/** What the declarations of operations that only read have in common: no lease and no share mode
 *  can prevent them. */
const readsRecord = {
  effect: "reads",
  event: "none",
  onSnapshot: "allowed",
  lease: "checked-at-open",
  fileAccess: "none",
} as const;

const fileInfoOperation = handleOperation<HandleRequest, FileInfo, readonly string[]>({
  ...readsRecord,
  name: "query information",
  handle: "must-be-open",
  reads: async (view, { request: { reference }, loaded: { share, node } }) =>
    reference.snapshot?.path ?? (await pathOf(view, share.id, node)) ?? [node.name],
  decide: ({ loaded: { share, node, locks }, readResult: path }) => ({
    value: { share, node, locks, path },
  }),
});

export const fileInfo = callAtOnce(fileInfoOperation);

/** What the response to QUERY_INFO on the volume, which is the share, is made of. */
export interface VolumeSpace {
  readonly totalBytes: bigint;
  readonly freeBytes: bigint;
  readonly createdAt: Ticks;
}

interface SpaceRequest extends ShareAddress {
  /** The quota of the account; undefined if it has none. */
  readonly quota: AccountQuota | undefined;
}

interface LoadedSpace {
  readonly share: ShareRecord;
  readonly used: bigint;
  /** Bytes that the account may still store; undefined if it has no quota. */
  readonly accountFreeBytes: bigint | undefined;
  readonly root: NodeRecord | undefined;
}

/** Reports a share as a volume of the size of its quota, with at most the free bytes of its
 *  account. */
const spaceOperation: SmbOperation<SpaceRequest, LoadedSpace, undefined, VolumeSpace> = {
  name: "query volume size",
  effect: "reads",
  event: "none",
  load: async (view, address) => {
    const share = await loadShare(view, address);
    if (share === undefined) return { fault: "share-gone" };
    const used = await usedBytes(view, share);
    const accountFreeBytes = await accountFree(view, address);
    return { share, used, accountFreeBytes, root: await view.get(nodes, rootKey(share.id)) };
  },
  decide: ({ loaded: { share, used, accountFreeBytes, root } }) => {
    const totalBytes = quotaBytes(share);
    const shareFree = totalBytes - used;
    const free =
      accountFreeBytes === undefined || shareFree < accountFreeBytes ? shareFree : accountFreeBytes;
    const freeBytes = free < 0n ? 0n : free;
    return { value: { totalBytes, freeBytes, createdAt: root?.created ?? share.etag } };
  },
};

export function volumeSpaceOf(
  runtime: Runtime,
  { share }: FileReference,
): Promise<FileResult<VolumeSpace>> {
  const quota = runtime.quotas?.limitOf(share.account);
  return executeAtOnce(runtime, spaceOperation, { ...share, quota });
}

async function accountFree(
  view: RecordView,
  { account, quota }: SpaceRequest,
): Promise<bigint | undefined> {
  if (quota?.isCounted !== true) return undefined;
  return BigInt(quota.quotaBytes) - (await view.count(accountUsage.key(account)));
}

const securityOperation = handleOperation<HandleRequest, string, string>({
  ...readsRecord,
  name: "query security",
  handle: "unchecked",
  reads: (view, { loaded }) => sddlOf(view, loaded),
  decide: ({ readResult: sddl }) => ({ value: sddl }),
});

export const securityOf = callAtOnce(securityOperation);

/** The security descriptor of a file in SDDL, for QUERY_INFO and SET_INFO: the stored or well-known
 *  one; else that of the root directory, which files have by default. */
export async function sddlOf(view: RecordView, { share, node }: LoadedNode): Promise<string> {
  const { permissionKey: key } = node;
  if (key === undefined) return rootSddl;
  const stored = await view.get(permissions, { share: share.id, key });
  return stored?.sddl ?? wellKnownSddl(key) ?? rootSddl;
}

interface DirectoryListRequest extends HandleRequest {
  /** Case-folded name of the first entry to list; empty for the start. */
  readonly from: string;
  readonly limit: number;
}

interface DirectoryPage {
  readonly entries: readonly Child[];
  readonly directory: NodeRecord;
}

/** Lists a directory in the order of the case-folded names, so that a continued listing repeats no
 *  name. */
const listOperation = handleOperation<DirectoryListRequest, DirectoryPage, readonly Child[]>({
  ...readsRecord,
  name: "list directory",
  handle: "unchecked",
  reads: (view, { request: { reference, from, limit }, loaded: { share, node } }) => {
    const tree = { share: share.id, epoch: reference.snapshot?.epoch };
    return childrenOf(view, tree, { directory: node.id, prefix: "", from, limit });
  },
  decide: ({ loaded, readResult: entries }) => ({ value: { entries, directory: loaded.node } }),
});

export const listDirectory = callAtOnce(listOperation);

interface FileReadRequest extends HandleRequest {
  readonly from: number;
  readonly length: number;
}

/** The bytes for a READ, from one state of the file. The caller closes the reader. */
interface FileReadResult {
  readonly reader: ContentReader;
  readonly length: number;
}

export const readOperation = handleOperation<FileReadRequest, { readonly length: number }>({
  ...readsRecord,
  name: "read",
  handle: "must-be-open",
  fileAccess: { ...handleAccess.read, range: ({ request }) => request },
  decide: ({ request: { from, length }, loaded: { node } }) => {
    const { content = emptyContent } = node;
    if (from >= content.length && length > 0) return { fault: "end-of-file" };
    const available = content.length - Math.min(from, content.length);
    return { value: { length: Math.min(length, available) }, content };
  },
});

export async function readFile(
  runtime: Runtime,
  request: FileReadRequest,
): Promise<FileResult<FileReadResult>> {
  const outcome = await executeAtOnce(runtime, readOperation, request);
  if (outcome.kind === "fault") return outcome;
  const { reader, value } = outcome;
  if (reader === undefined) throw new Error("a successful read has content");
  return done({ reader, length: value.length });
}

interface WrittenRangesRequest extends HandleRequest {
  readonly span: Span;
}

/** Reports which parts of a span were written and not cleared, rounded to whole sectors as in List
 *  Ranges. For the IOCTL that queries the allocated ranges of a sparse file. */
const writtenRangesOperation = handleOperation<
  WrittenRangesRequest,
  readonly Interval[],
  readonly Slice[]
>({
  ...readsRecord,
  name: "query allocated ranges",
  handle: "unchecked",
  reads: (view, { request, loaded: { node } }) =>
    slicesOf(view, node.content ?? emptyContent, spanInside(node, request.span)),
  decide: ({ request, loaded: { node }, readResult }) => {
    const { from, length } = spanInside(node, request.span);
    const clipped = intervalsOf(readResult).map((range) => ({
      from: Math.max(range.from, from),
      to: Math.min(range.to, from + length),
    }));
    return { value: sectorsOf(clipped, node.content?.length ?? 0) };
  },
});

export const writtenRanges = callAtOnce(writtenRangesOperation);
