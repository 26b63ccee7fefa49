import { allThere, whenThere, type Awaitable } from "../../core/awaitable.ts";
import { successor } from "../../core/keys.ts";
import type { Ticks } from "../../core/ticks.ts";
import type { RecordView, ScanBounds } from "../../core/view.ts";
import { messages, turns } from "../records.ts";
import type { Place } from "./message-effects.ts";
import { messageIdOfBytes } from "./message-id.ts";
import type { IdentifiedMessage } from "./message-xml.ts";

export interface Head {
  /** Visible, first come first. */
  readonly visible: readonly IdentifiedMessage[];
  /** Passed over on the way. */
  readonly expired: readonly Place[];
}

/** Expired messages that one request steps over; a get also removes them, so that it is the next
 *  one that finds what lies behind. */
const expiredPassedMax = 500;
const expiredPerStepMax = 250;

/**
 * The first visible messages of a queue. It reads as many places as it hands out, so that only
 * those who take the same messages get in each other's way: a put joins the end of the line.
 */
export function headOfLine(view: RecordView, queue: bigint, count: number): Awaitable<Head> {
  const end = turns.prefix([queue, view.now + 1n]);
  // Every moment that can come is as many bytes long as this one.
  const leadsTo = { skip: end.length, prefix: messages.prefix([queue]) };
  const walk: Walk = { view, count, end, leadsTo, visible: [], expired: [] };
  return whenThere(walkOn(walk, turns.prefix([queue])), () =>
    whenThere(load(view, queue, walk.visible.slice(0, count)), (visible) => ({
      visible,
      expired: walk.expired,
    })),
  );
}

interface Walk {
  readonly view: RecordView;
  readonly count: number;
  readonly end: Uint8Array;
  readonly leadsTo: ScanBounds["leadsTo"] & object;
  readonly visible: Place[];
  readonly expired: Place[];
}

function walkOn(walk: Walk, start: Uint8Array): Awaitable<void> {
  const { view, count, end, leadsTo, visible, expired } = walk;
  if (visible.length >= count || expired.length >= expiredPassedMax) return undefined;
  const limit = Math.max(count - visible.length, Math.min(expired.length, expiredPerStepMax));
  return whenThere(view.take(turns, { start, end, limit, leadsTo }), (found) => {
    for (const { key, record } of found) {
      const place = { ...placeOf(key), expires: record.expires };
      (record.expires > view.now ? visible : expired).push(place);
    }
    const last = found.at(-1);
    if (last === undefined || found.length < limit) return undefined;
    return walkOn(walk, successor(last.key));
  });
}

function placeOf(key: Uint8Array): { id: string; visibleAt: Ticks } {
  const [, visibleAt, id] = turns.parts(key);
  return { visibleAt: visibleAt as Ticks, id: messageIdOfBytes(id as Uint8Array) };
}

function load(
  view: RecordView,
  queue: bigint,
  places: readonly Place[],
): Awaitable<readonly IdentifiedMessage[]> {
  return allThere(
    places.map(({ id }) =>
      whenThere(view.get(messages, { queue, id }), (message) => {
        if (message !== undefined) return { id, message };
        throw new Error(`the message ${id} stands in line but is not there`);
      }),
    ),
  );
}

/** Every message of a queue, visible or not, if there are at most so many. */
export async function wholeLine(
  view: RecordView,
  queue: bigint,
  countMax: number,
): Promise<readonly Place[] | undefined> {
  const places: Place[] = [];
  const bounds = { ...turns.range([queue]), limit: countMax + 1 };
  for await (const batch of view.scan(turns, bounds)) {
    for (const { key, record } of batch) places.push({ ...placeOf(key), ...record });
  }
  return places.length > countMax ? undefined : places;
}
