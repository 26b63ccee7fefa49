import type { ReceivedBody } from "../content/content-ref.ts";
import type { Effect } from "./effects.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { RecordView } from "./view.ts";

/** A job that fetches bytes after the response was sent: an asynchronous copy. */
export interface TransferJob {
  /** Unique: the copy id. */
  readonly id: string;
  /** Names the handler, e.g. `blob-copy`. */
  readonly kind: string;
  /** Key of the target's record. */
  readonly scope: readonly (string | bigint)[];
  /** URL of the source, with its signature. */
  readonly url: string;
  /** Headers of the request for the source, e.g. an `if-match` that pins its state. */
  readonly headers: Readonly<Record<string, string>>;
  /** Length of the source in bytes; undefined if it does not state one. */
  readonly length?: number | undefined;
  /** Undefined if the source is read over the network. */
  readonly own?: OtherService | undefined;
}

/** A source in another service of this server, with the address of the client: signatures may be
 *  limited to an address and to HTTPS. */
export interface OtherService {
  readonly service: ServiceName;
  readonly remoteAddress: string;
  readonly secure: boolean;
}

export type TransferEnd =
  | { readonly ended: "success"; readonly received: ReceivedBody }
  | { readonly ended: "failed"; readonly description: string };

/** Applies a transfer to the records of a service. Both functions run in a transaction of their own
 *  and return undefined if the target no longer waits for these bytes. */
export interface TransferHandler {
  readonly progress: (
    view: RecordView,
    job: TransferJob,
    copiedBytes: number,
  ) => Promise<readonly Effect[] | undefined>;
  readonly finish: (
    view: RecordView,
    job: TransferJob,
    end: TransferEnd,
  ) => Promise<readonly Effect[] | undefined>;
}
