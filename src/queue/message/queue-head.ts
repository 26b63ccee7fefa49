import { allAwaitable, mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import { successor } from "../../encoding/keys.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView, ScanBounds } from "../../operation/view.ts";
import { messages, visibilityIndex } from "../records.ts";
import type { VisibilityEntry } from "./message-effects.ts";
import { messageIdOfBytes } from "./message-id.ts";
import type { IdentifiedMessage } from "./message-xml.ts";

export interface QueueHead {
  /** Visible, first come first. */
  readonly visible: readonly IdentifiedMessage[];
  /** Passed over on the way. */
  readonly expired: readonly VisibilityEntry[];
}

/** Expired messages that one request steps over; a get also removes them, so that it is the next
 *  one that finds what lies behind. */
const expiredPassedMax = 500;
const expiredPerStepMax = 250;

/**
 * The first visible messages of a queue. It reads as many places as it hands out, so that only
 * those who take the same messages get in each other's way: a put joins the end of the line.
 */
export function readQueueHead(
  view: RecordView,
  queue: bigint,
  count: number,
): Awaitable<QueueHead> {
  const end = visibilityIndex.prefix([queue, view.now + 1n]);
  // Every moment that can come is as many bytes long as this one.
  const indexTarget = { skip: end.length, prefix: messages.prefix([queue]) };
  const walk: Walk = { view, count, end, indexTarget, visible: [], expired: [] };
  return mapAwaitable(walkOn(walk, visibilityIndex.prefix([queue])), () =>
    mapAwaitable(load(view, queue, walk.visible.slice(0, count)), (visible) => ({
      visible,
      expired: walk.expired,
    })),
  );
}

interface Walk {
  readonly view: RecordView;
  readonly count: number;
  readonly end: Uint8Array;
  readonly indexTarget: ScanBounds["indexTarget"] & object;
  readonly visible: VisibilityEntry[];
  readonly expired: VisibilityEntry[];
}

function walkOn(walk: Walk, start: Uint8Array): Awaitable<void> {
  const { view, count, end, indexTarget, visible, expired } = walk;
  if (visible.length >= count || expired.length >= expiredPassedMax) return undefined;
  const limit = Math.max(count - visible.length, Math.min(expired.length, expiredPerStepMax));
  return mapAwaitable(
    view.readHead(visibilityIndex, { start, end, limit, indexTarget }),
    (found) => {
      for (const { key, record } of found) {
        const place = { ...placeOf(key), expires: record.expires };
        (record.expires > view.now ? visible : expired).push(place);
      }
      const last = found.at(-1);
      if (last === undefined || found.length < limit) return undefined;
      return walkOn(walk, successor(last.key));
    },
  );
}

function placeOf(key: Uint8Array): { id: string; visibleAt: Ticks } {
  const [, visibleAt, id] = visibilityIndex.parts(key);
  return { visibleAt: visibleAt as Ticks, id: messageIdOfBytes(id as Uint8Array) };
}

function load(
  view: RecordView,
  queue: bigint,
  places: readonly VisibilityEntry[],
): Awaitable<readonly IdentifiedMessage[]> {
  return allAwaitable(
    places.map(({ id }) =>
      mapAwaitable(view.get(messages, { queue, id }), (message) => {
        if (message !== undefined) return { id, message };
        throw new Error(`the message ${id} stands in line but is not there`);
      }),
    ),
  );
}

/** Every message of a queue, visible or not, if there are at most so many. */
export async function readAllVisibility(
  view: RecordView,
  queue: bigint,
  countMax: number,
): Promise<readonly VisibilityEntry[] | undefined> {
  const places: VisibilityEntry[] = [];
  const bounds = { ...visibilityIndex.range([queue]), limit: countMax + 1 };
  for await (const batch of view.scan(visibilityIndex, bounds)) {
    for (const { key, record } of batch) places.push({ ...placeOf(key), ...record });
  }
  return places.length > countMax ? undefined : places;
}
