import { put, type Effect } from "../operation/effects.ts";
import {
  completeDeclaration,
  type AnyDecisionContext,
  type BodyInput,
  type NoParams,
  type Operation,
  type OperationSpec,
  type TargetPolicy,
} from "../operation/operation.ts";
import type { Reply, WaitDecision } from "../operation/reply.ts";
import type { InputOf, Params } from "../protocol/params.ts";
import type { Failure } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";
import type { ByteSpan } from "./locks/byte-ranges.ts";
import type { FileAccess } from "./locks/file-access.ts";
import { decideFileAccess } from "./locks/rest-access.ts";
import type { LockState } from "./locks/lock-state.ts";
import { locks, type NodeRecord } from "./records.ts";
import type { FileApi } from "./events.ts";
import { keepsTrailingDots, type FileAddress } from "./file-address.ts";
import {
  firstVersion,
  type FileResources,
  type NodeScope,
  type WritePolicies,
} from "./resources.ts";

/** Declares the REST operations on files (`fileOperation`), which SMB clients may have open at the
 *  same time. */

/** The SMB access that a REST operation counts as for its duration. It is checked against the
 *  opens, byte-range locks and caching grants of SMB clients. */
interface TargetAccess<Input> extends FileAccess {
  /** The bytes that a call touches, to compare with byte-range locks; undefined if it touches none.
   *  Absent if no call of the operation touches bytes. */
  readonly range?: (input: Input, target: NodeRecord) => ByteSpan | undefined;
  /** Whether a call has this access; absent if every call has. */
  readonly appliesTo?: (input: Input) => boolean;
}

interface FileAccessPolicy<Input> {
  /** `none` if the operation creates its target, which no client can have open then. */
  readonly fileAccess: TargetAccess<Input> | "none";
  /** Which event a change by the operation is in the event log of the account. */
  readonly event: FileApi;
}

export type FileOperation = Operation & FileAccessPolicy<object>;

/** Declares a REST operation on a file or directory. The lock state is checked in the transaction
 *  that executes the operation, before its decision, which therefore knows nothing of locks. */
export function fileOperation<
  const N extends "file" | "directory" | "entry",
  const T extends TargetPolicy,
  P extends Params = NoParams,
  B = undefined,
  S = undefined,
>(
  spec: OperationSpec<FileResources, FileAddress, N, T, P, B, S> &
    FileAccessPolicy<InputOf<P> & BodyInput<B>> &
    WritePolicies,
): FileOperation {
  const params = { ...spec.params, keepsTrailingDots };
  const given = completeDeclaration({ ...spec, params }, firstVersion) as FileOperation;
  const declared = { ...given, permission: { ...given.permission, needsIntent: true as const } };
  const { fileAccess } = declared;
  return fileAccess === "none" ? declared : withAccessCheck(declared, fileAccess);
}

function withAccessCheck(operation: FileOperation, access: TargetAccess<object>): FileOperation {
  return {
    ...operation,
    decide: (context) => {
      const locked = lockedFileOf(context);
      if (locked === undefined || access.appliesTo?.(context.input) === false) {
        return operation.decide(context);
      }
      const { target } = context as { readonly target?: NodeRecord };
      const span = target && access.range?.(context.input, target);
      const checked = checkFileAccess(access, { ...locked, span });
      if ("stop" in checked) return checked.stop;
      const decision = operation.decide(context);
      if ("fault" in decision || "wait" in decision) return decision;
      return withEffects(decision, checked.effects);
    },
  };
}

/** The file whose lock state is checked: the target of the operation; undefined if it does not
 *  exist or no SMB client has it open. */
function lockedFileOf({ scope, target, now }: AnyDecisionContext): LockedFile | undefined {
  const { locks: held, share } = scope as Partial<NodeScope>;
  if (held === undefined || share === undefined || target === undefined) return undefined;
  return { locks: held, share: share.id, id: (target as NodeRecord).id, now };
}

/** A file that a REST operation accesses: its lock state, and the accessed bytes. */
interface LockedFile {
  readonly locks: LockState | undefined;
  readonly share: bigint;
  readonly id: bigint;
  readonly now: Ticks;
  readonly span?: ByteSpan | undefined;
}

/** `stop`: the operation must fail or wait. `effects`: the breaks of caching grants that an allowed
 *  access starts. */
type AccessCheck =
  | { readonly stop: Failure | WaitDecision }
  | { readonly effects: readonly Effect[] };

/** Checks the access of a REST operation to one file. Decisions call it for a file other than their
 *  target; for the target `fileOperation` does. */
export function checkFileAccess(access: FileAccess, file: LockedFile): AccessCheck {
  const { locks: held, share, id, now, span } = file;
  if (held === undefined) return { effects: [] };
  const decision = decideFileAccess(held, access, { now, span });
  if (decision.kind === "refused") return { stop: decision.failure };
  const effects = decision.state === held ? [] : [put(locks, { share, id }, decision.state)];
  if (decision.kind === "pass") return { effects };
  return { stop: { wait: { key: locks.key({ share, id }), until: decision.until }, effects } };
}

/** Adds the effects of the lock check (breaks of caching grants) to the reply of a decision. They
 *  come first: the decision may store a later lock state of the same file. */
function withEffects(reply: Reply<object>, more: readonly Effect[]): Reply<object> {
  return more.length === 0 ? reply : { ...reply, effects: [...more, ...(reply.effects ?? [])] };
}

/** The span as byte-range locks have it (64-bit); undefined if it is empty, because empty accesses
 *  conflict with no lock. */
export function byteSpan(offset: number, length: number): ByteSpan | undefined {
  return length <= 0 ? undefined : { offset: BigInt(offset), length: BigInt(length) };
}

/** The range of all bytes of a file, for operations that read or replace the whole content. */
export function wholeFile(_input: object, { content }: NodeRecord): ByteSpan | undefined {
  return byteSpan(0, content?.length ?? 0);
}
