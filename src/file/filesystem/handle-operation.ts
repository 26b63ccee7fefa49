import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import { ticksFromSeconds, type Ticks } from "../../base/ticks.ts";
import type { Effect } from "../../operation/effects.ts";
import { put, remove } from "../../operation/effects.ts";
import type { WaitDecision } from "../../operation/reply.ts";
import type { RecordView } from "../../operation/view.ts";
import { isLocked } from "../../protocol/lease.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { FileApi } from "../events.ts";
import { breakSecondsMax } from "../locks/caching.ts";
import { checkDataAccess, type AccessCheck, type DataAccess } from "../locks/file-access.ts";
import { isIdle, noLocks, type LockState } from "../locks/lock-state.ts";
import { locks, shares, type NodeKey, type NodeRecord, type ShareRecord } from "../records.ts";
import { nodeById, nodeKeyOf, resolvePath } from "../share-tree.ts";
import type { CheckDecision, FileDecisionContext, LoadedContext } from "./execute-operation.ts";
import type { SmbOperation } from "./execute-operation.ts";
import type { FileReference, ShareAddress } from "./file-reference.ts";
import type { FaultDecision, FileDecision, FileFault } from "./file-result.ts";

/** Declares the file operations that SMB clients make through an open handle (`handleOperation`),
 *  and the functions that load, check and store the lock state of a file. */

/** What every request of an SMB client on an open file contains: the file, and which of its opens.
 *  The requests of single operations extend it. */
export interface HandleRequest {
  readonly reference: FileReference;
  /** Id of the open in the lock state of the file. */
  readonly handle: bigint;
}

/** A file or directory as an operation loads it: with its key and the record of its share. */
export interface LoadedNode {
  readonly share: ShareRecord;
  readonly key: NodeKey;
  readonly node: NodeRecord;
}

export interface LoadedFile extends LoadedNode {
  /** `noLocks` if the operation does not read the lock state (`handle: "unchecked"`, or a share
   *  snapshot). */
  readonly locks: LockState;
}

/** Loads the share of a handle. Undefined if it was deleted, even if another share has its name
 *  now. */
export function loadShare(
  view: RecordView,
  { account, name, id }: ShareAddress,
): Awaitable<ShareRecord | undefined> {
  return mapAwaitable(view.get(shares, { account, name }), (record) =>
    record?.id === id ? record : undefined,
  );
}

/** Loads the file of a handle, in its current state or in a share snapshot. Undefined if the file
 *  or its share no longer exists. */
export async function loadNode(
  view: RecordView,
  reference: FileReference,
): Promise<LoadedNode | undefined> {
  const share = await loadShare(view, reference.share);
  if (share === undefined) return undefined;
  const { snapshot } = reference;
  if (snapshot !== undefined) {
    const tree = { share: share.id, epoch: snapshot.epoch };
    const { key, target } = await resolvePath(view, tree, snapshot.path);
    return target && { share, key, node: target };
  }
  const node = await nodeById(view, share.id, reference.file);
  return node && { share, node, key: nodeKeyOf(share.id, node) };
}

export function loadLocks(view: RecordView, share: bigint, file: bigint): Awaitable<LockState> {
  return mapAwaitable(view.get(locks, { share, id: file }), (found) => found ?? noLocks);
}

/** Whether a handle is still open: Force Close Handles removes a handle from the lock state without
 *  its client. */
export function isOpen({ opens }: LockState, handle: bigint): boolean {
  return opens.some(({ id }) => id === handle);
}

/** The effect that stores a lock state, or removes it: a file without handles has none. */
export function putLocks(share: bigint, file: bigint, state: LockState): Effect {
  const key = { share, id: file };
  return isIdle(state) ? remove(locks, key) : put(locks, key, state);
}

type Context<Request> = LoadedContext<Request, LoadedFile>;

/** How an operation through a handle accesses the bytes of the file. */
interface HandleAccess<Request> extends DataAccess {
  /** The bytes that the operation touches; absent if it touches none. */
  readonly range?: (context: Context<Request>) => Span;
}

/** The declaration of an operation through a handle, from which `load` and `check` are derived. */
interface HandleOperationSpec<Request extends HandleRequest, Seen, Value> {
  readonly name: string;
  readonly effect: "reads" | "writes";
  /** Which event a change by the operation is in the event log of the account. */
  readonly event: FileApi;
  /** Whether the operation may run on a file of a share snapshot, which has no lock state;
   *  otherwise the fault. */
  readonly onSnapshot: "allowed" | FileFault;
  /** `must-be-open`: after a forced close the operation fails with `file-closed`. `unchecked`: the
   *  operation does not read the lock state. */
  readonly handle: "must-be-open" | "unchecked";
  /** `excludes`: the operation fails while the file has an Azure lease. For operations whose access
   *  was not compared with the lease when the file was opened: changes of attributes, for
   *  example. */
  readonly lease: "excludes" | "checked-at-open";
  /** `in-decision`: `decide` checks the access itself, because it reports other faults first. */
  readonly fileAccess: HandleAccess<Request> | "none" | "in-decision";
  /** Checks the request before the access to the file is checked; undefined if it is valid. */
  readonly validate?: (context: Context<Request>) => FileFault | undefined;
  readonly reads?: (view: RecordView, context: Context<Request>) => Promise<Seen>;
  readonly decide: (context: FileDecisionContext<Request, LoadedFile, Seen>) => FileDecision<Value>;
}

type HandleOperation<Request, Seen, Value> = SmbOperation<Request, LoadedFile, Seen, Value>;

/** Makes an `SmbOperation` of the declaration of an operation on an open file: adds loading the
 *  file and checking its lock state. */
export function handleOperation<Request extends HandleRequest, Value, Seen = undefined>(
  spec: HandleOperationSpec<Request, Seen, Value>,
): HandleOperation<Request, Seen, Value> {
  return {
    ...spec,
    share: ({ reference }) => reference.share,
    load: (view, request) => loadFile(view, request, spec),
    check: (context) => checkHandle(context, spec),
  };
}

async function loadFile(
  view: RecordView,
  { reference, handle }: HandleRequest,
  policies: Pick<HandleOperationSpec<HandleRequest, never, never>, "onSnapshot" | "handle">,
): Promise<LoadedFile | FaultDecision> {
  const isSnapshot = reference.snapshot !== undefined;
  if (isSnapshot && policies.onSnapshot !== "allowed") return { fault: policies.onSnapshot };
  const loaded = await loadNode(view, reference);
  if (loaded === undefined) return { fault: "file-closed" };
  const { share, key, node } = loaded;
  if (isSnapshot || policies.handle === "unchecked") return { share, key, node, locks: noLocks };
  const state = await loadLocks(view, share.id, node.id);
  return isOpen(state, handle) ? { share, key, node, locks: state } : { fault: "file-closed" };
}

function checkHandle<Request extends HandleRequest>(
  context: Context<Request>,
  spec: Pick<HandleOperationSpec<Request, never, never>, "lease" | "fileAccess" | "validate">,
): CheckDecision {
  const { loaded, now } = context;
  if (spec.lease === "excludes" && isLocked(loaded.node.lease, now)) {
    return { fault: "sharing-violation" };
  }
  const fault = spec.validate?.(context);
  if (fault !== undefined) return { fault };
  const { fileAccess } = spec;
  return typeof fileAccess === "string" ? [] : checkHandleAccess(context, fileAccess);
}

function checkHandleAccess<Request extends HandleRequest>(
  context: Context<Request>,
  access: HandleAccess<Request>,
): CheckDecision {
  const { request, loaded, now } = context;
  if (request.reference.snapshot !== undefined) return [];
  const { share, node, locks: held } = loaded;
  const span = access.range?.(context);
  const bytes = span && { offset: BigInt(span.from), length: BigInt(span.length) };
  const check = checkDataAccess(held, access, { now, span: bytes, handle: request.handle });
  if (check.kind !== "pass") return stopFor(check, { share: share.id, id: node.id, now });
  return check.keysToNotify.length === 0 ? [] : [putLocks(share.id, node.id, check.state)];
}

/** The decision for an access that must fail or wait. The changed lock state is stored only if a
 *  client must be notified of a break: every write of the lock record wakes all operations that
 *  wait for it, so waiting operations that wrote it would wake each other endlessly. */
export function stopFor(
  check: Exclude<AccessCheck, { readonly kind: "pass" }>,
  file: WaitedFile,
): FaultDecision | WaitDecision {
  if (check.kind === "fault") return { fault: check.fault };
  const { state, keysToNotify } = check;
  return waitFor(file, keysToNotify.length === 0 ? [] : [putLocks(file.share, file.id, state)]);
}

/** The file on whose lock state an operation waits, and the time from which it waits. */
interface WaitedFile {
  readonly share: bigint;
  readonly id: bigint;
  readonly now: Ticks;
}

/** The decision to wait for a change of the lock state of a file, at the longest until a break has
 *  timed out (35 s, and 1 s more so that the time-out has passed). */
export function waitFor({ share, id, now }: WaitedFile, effects: readonly Effect[]): WaitDecision {
  const until = now + ticksFromSeconds(breakSecondsMax + 1);
  return { wait: { key: locks.key({ share, id }), until }, effects };
}
