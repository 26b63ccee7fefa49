import { successor } from "../../core/keys.ts";
import type { Ticks } from "../../core/ticks.ts";
import type { RecordView } from "../../core/view.ts";
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
export async function headOfLine(view: RecordView, queue: bigint, count: number): Promise<Head> {
  const visible: Place[] = [];
  const expired: Place[] = [];
  const end = turns.prefix([queue, view.now + 1n]);
  // Every moment that can come is as many bytes long as this one.
  const leadsTo = { skip: end.length, prefix: messages.prefix([queue]) };
  let start = turns.prefix([queue]);
  while (visible.length < count && expired.length < expiredPassedMax) {
    const limit = Math.max(count - visible.length, Math.min(expired.length, expiredPerStepMax));
    let found = 0;
    for await (const batch of view.scan(turns, { start, end, limit, leadsTo })) {
      for (const { key, record } of batch) {
        found += 1;
        start = successor(key);
        (record.expires > view.now ? visible : expired).push({ ...placeOf(key), ...record });
      }
    }
    if (found < limit) break;
  }
  return { visible: await load(view, queue, visible.slice(0, count)), expired };
}

function placeOf(key: Uint8Array): { id: string; visibleAt: Ticks } {
  const [, visibleAt, id] = turns.parts(key);
  return { visibleAt: visibleAt as Ticks, id: messageIdOfBytes(id as Uint8Array) };
}

async function load(
  view: RecordView,
  queue: bigint,
  places: readonly Place[],
): Promise<readonly IdentifiedMessage[]> {
  const found: IdentifiedMessage[] = [];
  for (const { id } of places) {
    const message = await view.get(messages, { queue, id });
    if (message === undefined) throw new Error(`the message ${id} stands in line but is not there`);
    found.push({ id, message });
  }
  return found;
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
