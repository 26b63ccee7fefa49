import type { Clock, Log } from "../base/world.ts";
import type { OwnEndpoints } from "../http/source/own-endpoints.ts";
import { transferSources } from "../http/source/source-readers.ts";
import type { SourceReader } from "../http/source/source-reader.ts";
import { runTransfers, type Transfers } from "../http/source/transfers.ts";
import type { DataStores } from "./data-stores.ts";
import { services } from "./services.ts";

/** Runs the copies of all services in the background. */
export function runServiceTransfers(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { store, content, quotas }: DataStores,
  sources: { readonly endpoints: OwnEndpoints; readonly remote: SourceReader },
): Transfers {
  const handlers = new Map(services.flatMap(({ transfers = {} }) => Object.entries(transfers)));
  const read = transferSources(sources);
  return runTransfers({ store, content, quotas, handlers, read, clock, log });
}
