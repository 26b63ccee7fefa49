import type { ServiceProperties } from "../../account/service-properties.ts";
import type { StoredSettings } from "../../account/account-record.ts";
import type { RoleAssignmentInput } from "../../account/parse-identity.ts";
import type { SubscriptionInput } from "../../account/parse-subscription.ts";
import type { AccountKeys } from "../../account/settings.ts";
import type { SliceCipher } from "../../content/content-ref.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { Progress } from "../progress.ts";
import { recordCodec } from "../../encoding/table.ts";

/*
 * An archive is a line of text and a sequence of frames (docs/ARCHIVE.md).
 *
 *     etagere archive 1\n
 *     frame: kind 1 byte, flags 1, zeros 2, index 4, stored length 4, plain length 4, CRC-32 4,
 *            then the stored bytes
 *
 * Numbers are unsigned and big-endian. The checksum covers the first 16 bytes of the frame and its
 * stored bytes. The index counts frames from 0, so that a missing frame is noticed. The payload is
 * the length of a map (4 bytes), the map as MessagePack after a version byte, and `bytes`. These
 * are not part of the map, because the encoder would enlarge its buffer, which all records share.
 */

/** The version of the archive format, in the first line. `frame-writer.ts` writes frames,
 *  `frame-reader.ts` reads them. */
export const formatVersion = 1;
export const firstLine = `etagere archive ${formatVersion}\n`;
export const firstLinePattern = /^etagere archive (\d{1,9})\n/;
export const frameHeaderBytes = 20;
/** Bytes of the header that the checksum covers. */
export const checkedHeaderBytes = 16;
/** The payload is compressed with raw Deflate. */
export const flagDeflated = 1;
/** Limit of a payload before compression. A writer stays far below it; a reader never reserves
 *  memory for more than has arrived. */
export const payloadBytesMax = 64 * 1024 * 1024;

/** The kinds of frames. Their numbers are never reused. */
export const frameKinds = {
  start: 1,
  account: 2,
  records: 3,
  content: 4,
  moreContent: 5,
  end: 6,
} as const;

export type FrameKind = keyof typeof frameKinds;

/** The first frame: what the archive contains. */
export interface StartFrame {
  /** Version of the program that wrote the archive. */
  readonly release: string;
  readonly createdAt: string;
  /** Names of the accounts, in the order of the account frames. */
  readonly accounts: readonly string[];
}

/** An account. Frames with its records follow. */
export interface AccountFrame {
  readonly name: string;
  /** The id that the keys of its containers, queues, tables and shares begin with. */
  readonly id: bigint;
  readonly hierarchicalNamespace: boolean;
  readonly properties: Readonly<Partial<Record<ServiceName, ServiceProperties>>>;
  /** Settings of an account that was created by the admin API; otherwise undefined. */
  readonly settings?: StoredSettings | undefined;
  /** Undefined unless the export includes keys. */
  readonly keys?: AccountKeys | undefined;
  /** Event subscriptions by name, in the form of the configuration. Those to webhooks only if the
   *  export includes keys: their URLs and secrets are credentials. */
  readonly subscriptions?: Readonly<Record<string, SubscriptionInput>> | undefined;
  /** The names of paused subscriptions. */
  readonly pausedSubscriptions?: readonly string[] | undefined;
  /** The stored assignments of built-in roles for the account, in the form of the configuration.
   *  Custom roles and principals belong to a server. */
  readonly roleAssignments?: readonly RoleAssignmentInput[] | undefined;
}

/** Records of one table that need no further frames. */
export interface RecordsFrame {
  readonly table: string;
  /** Lengths of key and value of each record. `bytes` has keys and values in the same order. */
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
}

/** A part of content. The bytes of all pieces of a frame follow each other in `bytes`. */
export interface ContentPiece {
  /** Offset in the content. Offsets that no piece covers are a hole, which reads as zeros. */
  readonly at: number;
  readonly length: number;
  /** Id of the block that begins with this piece. */
  readonly block?: string | undefined;
  /** Set if the bytes are encrypted with a key of the client. */
  readonly cipher?: SliceCipher | undefined;
  /** Set for a range that has no bytes, but has some in the base. */
  readonly isHole?: true | undefined;
}

export interface MoreContentFrame {
  readonly pieces: readonly ContentPiece[];
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** A record with its content. Unless `isLast`, frames `moreContent` follow. */
export interface ContentFrame extends MoreContentFrame {
  readonly table: string;
  readonly key: Uint8Array;
  /** The record with empty content. */
  readonly value: Uint8Array;
  readonly length: number;
  /** An earlier record of the archive. The content is that of the base, cut or enlarged to
   *  `length`, with the pieces written to it. Without a base it is empty before. */
  readonly base?: { readonly table: string; readonly key: Uint8Array } | undefined;
}

/** Last frame: without it an archive is incomplete. */
export interface EndFrame {
  readonly records: number;
  /** Bytes in the frames `content` and `moreContent`, before compression. */
  readonly contentBytes: number;
}

export interface FramePayloads {
  readonly start: StartFrame;
  readonly account: AccountFrame;
  readonly records: RecordsFrame;
  readonly content: ContentFrame;
  readonly moreContent: MoreContentFrame;
  readonly end: EndFrame;
}

export type Frame = {
  readonly [K in FrameKind]: { readonly kind: K; readonly payload: FramePayloads[K] };
}[FrameKind];

export const mapCodec = recordCodec<object>({ version: 1 });
export const mapLengthBytes = 4;

/** Where the header of a frame has the length of its stored bytes, and the length before
 *  compression. */
const storedLengthOffset = 8;
const plainLengthOffset = 12;

/** Returns a function that gets the bytes of an archive, in chunks of any size, and adds them to
 *  the progress. They are counted as before compression, because the total of an export is known
 *  only before compression. */
export function frameProgress(progress: Progress): (chunk: Uint8Array) => void {
  const header = Buffer.alloc(frameHeaderBytes);
  let headerBytes = 0;
  /** Bytes of the current frame that are still to come before the next header. */
  let left = firstLine.length;
  let plainPerStored = 0;
  return (chunk) => {
    let plain = 0;
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const count = Math.min(left, chunk.length - at);
        plain += count * plainPerStored;
        left -= count;
        at += count;
        continue;
      }
      const part = chunk.subarray(at, at + frameHeaderBytes - headerBytes);
      header.set(part, headerBytes);
      headerBytes += part.length;
      at += part.length;
      if (headerBytes < frameHeaderBytes) break;
      headerBytes = 0;
      left = header.readUInt32BE(storedLengthOffset);
      plainPerStored = left === 0 ? 0 : header.readUInt32BE(plainLengthOffset) / left;
    }
    progress.add({ bytes: plain });
  };
}
