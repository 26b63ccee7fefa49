import type { Metadata } from "../protocol/metadata.ts";
import type { PathAccess } from "../protocol/posix-access.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import type { Result } from "../protocol/result.ts";
import type { SourceStyle } from "../protocol/source-conditions.ts";
import type { Tags } from "../protocol/tags.ts";
import type { OtherService } from "./transfer-handler.ts";

/** The source of a copy. A record of the same service is read by the decision, in the same
 *  transaction. Anything else was requested before it, and its bytes are in `received` or will be
 *  fetched by a transfer job. */
export interface SourceBody {
  readonly kind: "source";
  readonly lengthMax: (version: string) => number;
  readonly inlineBytesMax: number;
  /** Which faults report a failed read of the source. */
  readonly style: SourceStyle;
  /** The header that selects a range of the source, or `none` for all of it. */
  readonly range: "x-ms-source-range" | "none";
  /** Computes the MD5 even if the request has none. */
  readonly md5Always: boolean;
  /** Rejects an empty source. */
  readonly nonEmpty?: true;
}

/** Properties of a copy source, from the response to the request that read it. */
export interface FetchedProperties {
  /** A response header, by lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly metadata: Metadata;
  /** Length of the whole source, even if a range was read; undefined if the source does not state
   *  it. */
  readonly length: number | undefined;
  /** Present only if the request copies them. */
  readonly tags?: Tags | undefined;
}

/**
 * The source of a copy. One that lies in the service itself is read by the decision, in the same
 * transaction; anything else was asked for before it, and its bytes are in `received`, or still
 * to be fetched by a transfer.
 */
export type CopySource =
  | {
      readonly kind: "same-service";
      readonly url: string;
      readonly account: string;
      readonly address: { readonly resource: string };
      /** Whether the caller may read the source, given the access policies of its container. */
      readonly authorise: (access: SourceAccess | undefined) => Result<void>;
    }
  | {
      readonly kind: "fetched";
      readonly url: string;
      /** Undefined if the source is read over the network. */
      readonly otherService?: OtherService | undefined;
      readonly properties: FetchedProperties;
    };

export interface SourceAccess {
  readonly policies: readonly StoredPolicy[];
  readonly publicAccess?: "container" | "blob";
  readonly path?: () => PathAccess;
}

/** The source URL as reads of the target show it: without the signature, which is a secret. */
export function withoutSignature(url: string): string {
  const mark = url.indexOf("?");
  if (mark < 0) return url;
  const kept = url
    .slice(mark + 1)
    .split("&")
    .filter((part) => !/^sig=/i.test(part));
  return kept.length === 0 ? url.slice(0, mark) : `${url.slice(0, mark)}?${kept.join("&")}`;
}
