import { put, type Effect } from "../operation/effects.ts";
import type { AnyDecisionContext, Operation } from "../operation/operation.ts";
import type { Reply, WaitDecision } from "../operation/reply.ts";
import type { ByteRange, Span } from "../protocol/ranges.ts";
import type { Failure } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Stretch } from "./locks/byte-ranges.ts";
import type { LockState } from "./locks/lock-state.ts";
import { decideShortOpen, shortOpens, type RestOperation } from "./locks/rest-access.ts";
import { locks, type NodeRecord } from "./records.ts";
import type { NodeScope } from "./resources.ts";

/**
 * Every REST operation on a file or directory counts as an SMB open for its duration, and asks the
 * lock engine in the very transaction that carries it out. The decision itself knows nothing of it.
 */
export function withLockCheck(operation: Operation): Operation {
  const { name } = operation;
  if (!isRestOperation(name)) return operation;
  return {
    ...operation,
    decide: (context) => {
      const { locks: held, share } = context.scope as Partial<NodeScope>;
      const target = context.target as NodeRecord | undefined;
      if (held === undefined || share === undefined || target === undefined) {
        return operation.decide(context);
      }
      if (!concerns(name, context)) return operation.decide(context);
      const passage = checkShortOpen(name, {
        locks: held,
        share: share.id,
        id: target.id,
        now: context.now,
        stretch: stretchOf(name, context),
      });
      if ("stop" in passage) return passage.stop;
      const decision = operation.decide(context);
      if ("fault" in decision || "wait" in decision) return decision;
      return withEffects(decision, passage.effects);
    },
  };
}

export interface ShortOpenPlace {
  readonly locks: LockState | undefined;
  readonly share: bigint;
  readonly id: bigint;
  readonly now: Ticks;
  readonly stretch?: Stretch | undefined;
}

type ShortOpenPassage =
  | { readonly stop: Failure | WaitDecision }
  | { readonly effects: readonly Effect[] };

/** For decisions that touch another file beside their target. */
export function checkShortOpen(name: RestOperation, place: ShortOpenPlace): ShortOpenPassage {
  const { locks: held, share, id, now, stretch: touched } = place;
  if (held === undefined) return { effects: [] };
  const passage = decideShortOpen(held, name, { now, stretch: touched });
  if (passage.kind === "refused") return { stop: passage.failure };
  const effects = passage.state === held ? [] : [put(locks, { share, id }, passage.state)];
  if (passage.kind === "pass") return { effects };
  return { stop: { wait: { key: locks.key({ share, id }), until: passage.until }, effects } };
}

function isRestOperation(name: string): name is RestOperation {
  return name in shortOpens;
}

function withEffects(reply: Reply<object, string>, more: readonly Effect[]): Reply<object, string> {
  return more.length === 0 ? reply : { ...reply, effects: [...(reply.effects ?? []), ...more] };
}

/** Only taking a lease is like opening a file; giving it back disturbs nobody. */
function concerns(name: RestOperation, { input }: AnyDecisionContext): boolean {
  if (name !== "Lease File") return true;
  const { action } = (input as { readonly action: { readonly action: string } }).action;
  return action === "acquire";
}

/** The bytes that an operation touches, for those who have locked some. */
function stretchOf(
  name: RestOperation,
  { input, target }: AnyDecisionContext,
): Stretch | undefined {
  const { length = 0 } = (target as NodeRecord).content ?? {};
  const asked = input as { readonly range?: Span & ByteRange; readonly length?: number };
  switch (name) {
    case "Put Range":
    case "Put Range From URL":
      return asked.range && stretch(asked.range.from, asked.range.length);
    case "Get File": {
      const { first = 0, last = length - 1 } = asked.range ?? {};
      return stretch(first, Math.min(last, length - 1) - first + 1);
    }
    case "Create File":
    case "Copy File":
    case "List Ranges":
      return stretch(0, length);
    case "Set File Properties":
      return asked.length === undefined || asked.length >= length
        ? undefined
        : stretch(asked.length, length - asked.length);
    default:
      return undefined;
  }
}

function stretch(offset: number, length: number): Stretch | undefined {
  return length <= 0 ? undefined : { offset: BigInt(offset), length: BigInt(length) };
}
