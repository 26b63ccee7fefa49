import type { Metadata } from "../protocol/metadata.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import type { Result } from "../protocol/result.ts";
import type { SourceStyle } from "../protocol/source-conditions.ts";
import type { Tags } from "../protocol/tags.ts";
import type { OtherService } from "./transfer-handler.ts";

/** Where an operation takes its bytes from when the request brings none: `x-ms-copy-source`. */
export interface SourceBody {
  readonly kind: "source";
  readonly lengthMax: (version: string) => number;
  readonly inlineBytesMax: number;
  /** How refusals of the source are told. */
  readonly style: SourceStyle;
  /** The part of the source to take: its own header, or all of it. */
  readonly range: "x-ms-source-range" | "none";
  /** Compute the MD5 even if the request names none. */
  readonly md5Always: boolean;
  /** Refuses a source without a byte. */
  readonly nonEmpty?: true;
}

/** What the source of a copy said of itself. */
export interface SourceFound {
  /** A header of its answer, by lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly metadata: Metadata;
  /** Of all of it, even if only a range was taken; unknown if the source does not say. */
  readonly length: number | undefined;
  /** Only if the request wants them copied. */
  readonly tags?: Tags | undefined;
}

/**
 * The source of a copy. One that lies in the service itself is read by the decision, in the same
 * transaction; anything else was asked for before it, and its bytes are in `received`, or still
 * to be fetched by a transfer.
 */
export type CopySource =
  | {
      readonly kind: "own";
      readonly url: string;
      readonly account: string;
      readonly address: { readonly resource: string };
      /** Whether the caller may read it, once it is known what its owner allows. */
      readonly authorise: (access: SourceAccess | undefined) => Result<void>;
    }
  | {
      readonly kind: "elsewhere";
      readonly url: string;
      /** Undefined if it is read over the network. */
      readonly own?: OtherService | undefined;
      readonly found: SourceFound;
    };

export interface SourceAccess {
  readonly policies: readonly StoredPolicy[];
  readonly publicAccess?: "container" | "blob";
}

/** What reads of the target show of its source: a signature in it is nobody's business. */
export function withoutSignature(url: string): string {
  const mark = url.indexOf("?");
  if (mark < 0) return url;
  const kept = url
    .slice(mark + 1)
    .split("&")
    .filter((part) => !/^sig=/i.test(part));
  return kept.length === 0 ? url.slice(0, mark) : `${url.slice(0, mark)}?${kept.join("&")}`;
}
