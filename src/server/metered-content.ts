import type { ContentStore } from "../content/content.ts";
import type { Meter } from "../protocol/meter.ts";

/** Counts bytes written to and read from the content store. Inline contents are part of their
 *  record and are not counted. */
export function meteredContent(content: ContentStore, meter: Meter): ContentStore {
  return {
    receive: (body, options) =>
      content.receive(body, options).then((received) => {
        meter.contentBytes("received", received.length);
        return received;
      }),
    open(view, ref, key) {
      const reader = content.open(view, ref, key);
      return {
        length: reader.length,
        read(from, length) {
          meter.contentBytes("sent", length);
          return reader.read(from, length);
        },
        ...(reader.reach && { reach: reader.reach.bind(reader) }),
        close: () => reader.close(),
      };
    },
    discard: (received) => content.discard(received),
    applyPlan: (tx, owner, before, plan) => content.applyPlan(tx, owner, before, plan),
    slices: (view, ref, from, length) => content.slices(view, ref, from, length),
    pin: (view) => content.pin(view),
    reclaim: () => content.reclaim(),
    close: () => content.close(),
  };
}
