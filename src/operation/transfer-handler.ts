import type { Received } from "../content/content-ref.ts";
import type { Effect } from "./effects.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { RecordView } from "./view.ts";

/** Bytes that are fetched after the answer was given: a copy from elsewhere. */
export interface TransferJob {
  /** Unique: the copy id. */
  readonly id: string;
  /** Names the handler, e.g. `blob-copy`. */
  readonly kind: string;
  /** Where the target's record lies. */
  readonly scope: readonly (string | bigint)[];
  /** With its signature. */
  readonly url: string;
  /** Sent with the request for the source, e.g. an `if-match` that keeps it the same. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is to come, if the source said so. */
  readonly length?: number | undefined;
  /** Undefined if the source is read over the network. */
  readonly own?: OtherService | undefined;
}

/** A source in another service of this server, and the client that reads it: signatures may be
 *  limited to an address and to HTTPS. */
export interface OtherService {
  readonly service: ServiceName;
  readonly remoteAddress: string;
  readonly secure: boolean;
}

export type TransferEnd =
  | { readonly ended: "success"; readonly received: Received }
  | { readonly ended: "failed"; readonly description: string };

/** What a transfer means to the records of a service. Both run in a transaction of their own, and
 *  answer undefined if the target no longer waits for these bytes. */
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
