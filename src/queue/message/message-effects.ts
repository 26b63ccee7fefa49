import { add, put, reclaimAt, remove, type Effect } from "../../operation/effects.ts";
import { ticksMax, ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import {
  expiries,
  messageCounter,
  messages,
  visibilityIndex,
  type MessageRecord,
} from "../records.ts";

/** What expires within one such stretch is swept by one job. */
const sweepTicks = 60n * ticksPerSecond;

function sweepAfter(expires: Ticks): Ticks {
  return expires - (expires % sweepTicks) + sweepTicks;
}

export function insertMessage(queue: bigint, id: string, message: MessageRecord): Effect[] {
  const { expires, visibleAt } = message;
  const effects = [
    put(messages, { queue, id }, message),
    put(visibilityIndex, { queue, visibleAt, id }, { expires }),
    add(messageCounter(queue), 1n),
  ];
  if (expires === ticksMax) return effects;
  const sweep = reclaimAt(sweepAfter(expires), "queue-expired", queue);
  return [...effects, put(expiries, { queue, expires, id }, {}), sweep];
}

export interface MessageUpdate {
  readonly queue: bigint;
  readonly id: string;
  readonly from: MessageRecord;
  readonly to: MessageRecord;
}

/** To another place in the line. */
export function updateVisibility({ queue, id, from, to }: MessageUpdate): Effect[] {
  return [
    remove(visibilityIndex, { queue, visibleAt: from.visibleAt, id }),
    put(visibilityIndex, { queue, visibleAt: to.visibleAt, id }, { expires: to.expires }),
    put(messages, { queue, id }, to),
  ];
}

export interface VisibilityEntry {
  readonly id: string;
  readonly visibleAt: Ticks;
  readonly expires: Ticks;
}

/** All there is of a message, whether it was deleted or has expired. */
export function removeMessage(
  queue: bigint,
  { id, visibleAt, expires }: VisibilityEntry,
): Effect[] {
  const effects = [
    remove(messages, { queue, id }),
    remove(visibilityIndex, { queue, visibleAt, id }),
    add(messageCounter(queue), -1n),
  ];
  return expires === ticksMax ? effects : [...effects, remove(expiries, { queue, expires, id })];
}
