import { add, periodJob, put, remove, type Effect } from "../../operation/effects.ts";
import { ticksMax, type Ticks } from "../../base/ticks.ts";
import {
  expiries,
  messageCount,
  messages,
  visibilityIndex,
  type MessageRecord,
} from "../records.ts";

export function insertMessage(queue: bigint, id: string, message: MessageRecord): Effect[] {
  const { expires, visibleAt } = message;
  const effects = [
    put(messages, { queue, id }, message),
    put(visibilityIndex, { queue, visibleAt, id }, { expires }),
    add(messageCount.key(queue), 1n),
  ];
  if (expires === ticksMax) return effects;
  const sweep = periodJob(messages, { queue, id }, message);
  return [...effects, put(expiries, { queue, expires, id }, {}), ...sweep];
}

/** A message before and after a change of its visibility. */
interface MessageUpdate {
  readonly queue: bigint;
  readonly id: string;
  readonly from: MessageRecord;
  readonly to: MessageRecord;
}

/** Moves the message to its new position in the visibility index. */
export function updateVisibility({ queue, id, from, to }: MessageUpdate): Effect[] {
  return [
    remove(visibilityIndex, { queue, visibleAt: from.visibleAt, id }),
    put(visibilityIndex, { queue, visibleAt: to.visibleAt, id }, { expires: to.expires }),
    put(messages, { queue, id }, to),
  ];
}

/** An entry of the visibility index, which has all that is needed to remove the message. */
export interface VisibilityEntry {
  readonly id: string;
  readonly visibleAt: Ticks;
  readonly expires: Ticks;
}

/** Removes a message from all tables and from the queue's message count. */
export function removeMessage(
  queue: bigint,
  { id, visibleAt, expires }: VisibilityEntry,
): Effect[] {
  const effects = [
    remove(messages, { queue, id }),
    remove(visibilityIndex, { queue, visibleAt, id }),
    add(messageCount.key(queue), -1n),
  ];
  return expires === ticksMax ? effects : [...effects, remove(expiries, { queue, expires, id })];
}
