import { inSpan, type Span } from "../base/span.ts";
import { contentWith, type ContentReader, type ContentStore } from "../content/content.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import type { Runtime } from "./work.ts";

/** Tracing: a runtime that measures transactions, waits and content of one request as spans
 *  (OpenTelemetry). `http/http-service.ts` makes one for each traced request. A request without a
 *  trace uses the store and the content directly, at no cost. */

export function tracedRuntime(runtime: Runtime, span: Span): Runtime {
  const { store, content } = runtime;
  return { ...runtime, store: tracedStore(store, span), content: tracedContent(content, span) };
}

function tracedStore(store: Store, parent: Span): Store {
  return {
    savedStates: store.savedStates,
    transact(work, options) {
      const span = parent.begin("transaction");
      let attempts = 0;
      const counted = (tx: Transaction): ReturnType<typeof work> => {
        attempts += 1;
        return work(tx);
      };
      return inSpan(span, async () => {
        try {
          return await store.transact(counted, { ...options, span });
        } finally {
          span.set({ "etagere.attempts": attempts });
        }
      });
    },
    snapshot(work, options) {
      const span = parent.begin("snapshot");
      const read = (view: View): ReturnType<typeof work> => work(view);
      return inSpan(span, () => store.snapshot(read, { ...options, span }));
    },
    raiseSequence: (to) => store.raiseSequence(to),
    // A request watches a key while it waits for a change of that key.
    watch(prefix, onChange, options) {
      const span = parent.begin("wait");
      const unwatch = store.watch(prefix, onChange, options);
      return () => {
        unwatch();
        span.end();
      };
    },
    close: () => store.close(),
  };
}

function tracedContent(content: ContentStore, parent: Span): ContentStore {
  return contentWith(content, {
    receive(body, options) {
      const span = parent.begin("receive body", { "etagere.bytes": options.length });
      return inSpan(span, () => content.receive(body, { ...options, span }));
    },
    open: (view, ref, key) => tracedReader(content.open(view, ref, key, parent), parent),
  });
}

function tracedReader(reader: ContentReader, parent: Span): ContentReader {
  return {
    length: reader.length,
    read: (from, length) => tracedRead(reader.read(from, length), parent, length),
    ...(reader.reach && { reach: reader.reach.bind(reader) }),
    close: () => reader.close(),
  };
}

/** The span lasts as long as the client takes to receive the chunks. */
async function* tracedRead(
  chunks: AsyncIterable<Uint8Array>,
  parent: Span,
  length: number,
): AsyncGenerator<Uint8Array> {
  const span = parent.begin("send body", { "etagere.bytes": length });
  try {
    yield* chunks;
  } finally {
    span.end();
  }
}
