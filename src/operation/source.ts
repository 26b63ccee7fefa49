import type { Metadata } from "../protocol/metadata.ts";
import type { Result } from "../protocol/result.ts";
import type { SourceStyle } from "../protocol/source-conditions.ts";
import type { Tags } from "../protocol/tags.ts";
import type { Access } from "./service.ts";
import type { OtherService } from "./transfer-handler.ts";

/** The sources of copies, as operations see them. `http/source/` resolves the URL of a source
 *  before the operation runs: a source in this service is read in the transaction of the copy, any
 *  other one over the network. */

/** The body of a copy operation: its bytes come from the URL in `x-ms-copy-source`. */
export interface SourceBody {
  readonly kind: "source";
  /** Most bytes that a source may have, by x-ms-version. */
  readonly lengthMax: (version: string) => number;
  /** A source of up to this many bytes is stored in the record instead of an extent. */
  readonly inlineBytesMax: number;
  /** Which fault codes report a failed read of the source. */
  readonly style: SourceStyle;
  /** The header that selects a range of the source, or `none` for all of it. */
  readonly range: "x-ms-source-range" | "none";
  /** Computes the MD5 even if the request has none. */
  readonly md5Always: boolean;
  /** The source must be a block blob if it is a blob. */
  readonly onlyBlockBlobs?: true;
  readonly nonEmpty?: true;
}

/** Properties of a copy source that was read by a request, from the response. */
export interface FetchedProperties {
  /** Returns a response header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly metadata: Metadata;
  /** Length of the whole source, even if a range was read; undefined if it is not stated. */
  readonly length: number | undefined;
  /** Tags of the source. Undefined unless the request copies the source's tags. */
  readonly tags?: Tags | undefined;
}

/** A source in the same service of this server is read by `reads`, in the transaction of the copy.
 *  Any other source was requested before the transaction: its bytes are in `received`, or a
 *  transfer job will fetch them. */
export type CopySource = OwnSource | FetchedSource;

/** A source in the same service of this server. */
export interface OwnSource {
  readonly kind: "same-service";
  readonly url: string;
  readonly account: string;
  readonly address: { readonly resource: string };
  /** Whether the source is in the account of the target. */
  readonly isSameAccount: boolean;
  /** Whether each encryption scope has a key of its own, as in an encrypted store: then a copy to
   *  another scope must be encrypted again. */
  readonly hasScopeKeys: boolean;
  /** Whether the caller may read the source, given the access rules of its container or share. */
  readonly authorise: (access: Access | undefined) => Result<void>;
  /** The source that the URL names if it is read without the account in its path. Both readings may
   *  be valid; which source exists is decided in the transaction. */
  readonly alternative?: OwnSource;
}

/** A source that was requested before the transaction. */
interface FetchedSource {
  readonly kind: "fetched";
  readonly url: string;
  /** The other service of this server that the source is in; undefined if the source is read over
   *  the network. */
  readonly otherService?: OtherService | undefined;
  readonly properties: FetchedProperties;
}

/** The source URL in the properties of a copy: without the signature, which is a secret. */
export function withoutSignature(url: string): string {
  const mark = url.indexOf("?");
  if (mark < 0) return url;
  const kept = url
    .slice(mark + 1)
    .split("&")
    .filter((part) => !/^sig=/i.test(part));
  return kept.length === 0 ? url.slice(0, mark) : `${url.slice(0, mark)}?${kept.join("&")}`;
}
