import type { AnyReadContext } from "./operation.ts";
import type { ContentStore } from "../content/content.ts";
import type { SnapshotOptions, View } from "../store/store.ts";
import type { Call } from "./execute.ts";
import { Records } from "./records.ts";

/** Options that let a remote engine fetch all records of these calls in one round trip. */
export function prefetchOptions(content: ContentStore, ...calls: readonly Call[]): SnapshotOptions {
  const [only] = calls;
  if (only !== undefined && calls.length === 1) {
    return { prefetch: (view) => prefetch(content, only, view) };
  }
  const all = (view: View) => calls.map((call) => prefetch(content, call, view));
  return { prefetch: (view) => Promise.allSettled(all(view)) };
}

/** Reads what the operation will read: target, scope and its `reads`. Decides nothing, because the
 *  view may be stale. */
async function prefetch(content: ContentStore, call: Call, view: View): Promise<void> {
  const records = new Records(view, content);
  const { operation } = call;
  const loaded = await call.resource.load(records, call);
  if (!loaded.scope.ok || operation.reads === undefined) return;
  const { target } = loaded;
  if (target === undefined && operation.target === "must-exist") return;
  const context: AnyReadContext = {
    now: view.now,
    version: call.version,
    account: call.account,
    features: call.features,
    address: call.address,
    scope: loaded.scope.value,
    target,
    input: call.input,
    entities: call.entities,
    source: call.source,
  };
  await operation.reads(records, context);
}
