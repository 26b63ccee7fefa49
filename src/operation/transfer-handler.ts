import type { ContentRef, ReceivedBody } from "../content/content-ref.ts";
import type { Effect } from "./effects.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { RecordView } from "./view.ts";

/** Asynchronous copies, as services see them: Copy Blob and Copy File store a transfer job, whose
 *  bytes arrive after the response. `transfer.ts` stores and claims jobs,
 *  `http/source/transfers.ts` fetches the bytes, the handlers of `blob/copy/` and `file/copy/` put
 *  them into the target. */

/** A stored job that fetches bytes after the response was sent, for an asynchronous copy. */
export interface TransferJob {
  /** Unique id of the transfer, which is the copy id. */
  readonly id: string;
  /** Names the handler, e.g. `blob-copy`. */
  readonly kind: string;
  /** Key of the target's record. */
  readonly scope: readonly (string | bigint)[];
  /** Id of the account of the target; undefined in jobs of earlier releases. */
  readonly account?: bigint | undefined;
  /** URL of the source, with its signature. */
  readonly url: string;
  /** Headers of the request for the source, e.g. an `if-match` that pins its state. */
  readonly headers: Readonly<Record<string, string>>;
  /** Length of the source in bytes; undefined if the source did not state one. */
  readonly length?: number | undefined;
  /** The other service of this server that the source is in; undefined if the source is read over
   *  the network. */
  readonly own?: OtherService | undefined;
  /** The encryption scope of the target; undefined if it has none. */
  readonly encryptionScope?: string | undefined;
  /** Set if the target has the bytes already, encrypted otherwise than it must be. */
  readonly isOwnContent?: true | undefined;
}

/** A copy source in another service of this server. It is read with the address and protocol of the
 *  client that requested the copy, because a SAS may be limited to an address or to HTTPS. */
export interface OtherService {
  readonly service: ServiceName;
  readonly remoteAddress: string;
  readonly secure: boolean;
}

/** How a transfer ended: with the fetched bytes, or with the text of a failure. */
export type TransferEnd =
  | { readonly ended: "success"; readonly received: ReceivedBody }
  | { readonly ended: "failed"; readonly description: string };

/** Applies the progress and the end of a transfer to the records of a service. Each function runs
 *  in a transaction of its own. Both return undefined if the target no longer waits for these
 *  bytes. */
export interface TransferHandler {
  /** The content of the target of a job with `isOwnContent`. Undefined if the target no longer
   *  waits for it. */
  readonly content?: (view: RecordView, job: TransferJob) => Promise<ContentRef | undefined>;
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
