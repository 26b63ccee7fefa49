import { contentWith, type ContentStore } from "../content/content.ts";
import type { Meter } from "../protocol/meter.ts";

/** Counts bytes written to and read from the content store. Inline contents are part of their
 *  record and are not counted. Not in `metrics.ts`, because the supervisor of workers uses that and
 *  must not load the content store. */
export function meteredContent(content: ContentStore, meter: Meter): ContentStore {
  return contentWith(content, {
    receive: (body, options) =>
      content.receive(body, options).then((received) => {
        meter.contentBytes("received", received.length);
        return received;
      }),
    open(view, ref, key, span) {
      const reader = content.open(view, ref, key, span);
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
  });
}
