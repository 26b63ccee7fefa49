import type { Ticks } from "../../base/ticks.ts";
import type { VersionedEntry } from "../engine.ts";
import { keyOfText, type KeyText } from "../key-text.ts";
import type { Key, Value } from "../store.ts";
import { copyBytes } from "../../encoding/slabs.ts";

/** Every stored value is preceded by its revision: 8 bytes, little-endian. */
export const revisionBytes = 8;
/** Key of the state record. No table key starts with `00`; these keys belong to the store
 *  itself. */
export const stateKey = new Uint8Array([0, 1]);
const twoToThe32 = 0x1_0000_0000;

export interface StoredState {
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly clockOffset: Ticks;
  readonly priorityOwner: number;
}

/** An entry of a scan, whose key is computed on demand: most callers never read it. */
export class ScannedEntry implements VersionedEntry {
  readonly text: KeyText;
  readonly value: Value;
  readonly revision: number;

  constructor(text: KeyText, stored: Uint8Array) {
    const { buffer, byteOffset, length } = stored;
    this.text = text;
    this.value = new Uint8Array(buffer, byteOffset + revisionBytes, length - revisionBytes);
    this.revision = readRevision(stored);
  }

  get key(): Key {
    return keyOfText(this.text);
  }
}

/** Copies an entry from the library's buffer, which the next read overwrites. */
export function copyEntry(key: Key, text: KeyText, stored: Uint8Array): VersionedEntry {
  return { key, text, value: copyBytes(stored, revisionBytes), revision: readRevision(stored) };
}

export function withRevision(value: Value, revision: number): Uint8Array {
  const stored = Buffer.allocUnsafe(revisionBytes + value.length);
  writeRevision(stored, revision);
  stored.set(value, revisionBytes);
  return stored;
}

/** Encodes the state record, which every batch writes. */
export function encodeState({
  sequence,
  ticks,
  clockOffset,
  priorityOwner,
}: StoredState): Uint8Array {
  const stored = Buffer.alloc(revisionBytes + 20);
  writeRevision(stored, sequence);
  stored.writeBigUInt64LE(ticks, revisionBytes);
  stored.writeBigInt64LE(clockOffset, revisionBytes + 8);
  stored.writeUInt32LE(priorityOwner, revisionBytes + 16);
  return stored;
}

export function decodeState(stored: Uint8Array | undefined): StoredState {
  if (stored === undefined) return { sequence: 0, ticks: 0n, clockOffset: 0n, priorityOwner: 0 };
  const view = new DataView(stored.buffer, stored.byteOffset, stored.length);
  return {
    sequence: readRevision(stored),
    ticks: view.getBigUint64(revisionBytes, true),
    clockOffset: view.getBigInt64(revisionBytes + 8, true),
    priorityOwner: view.getUint32(revisionBytes + 16, true),
  };
}

function readRevision(stored: Uint8Array): number {
  return readUint32(stored, 0) + readUint32(stored, 4) * twoToThe32;
}

function readUint32(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
  return low + (bytes[at + 3] ?? 0) * 0x100_0000;
}

function writeRevision(stored: Buffer, revision: number): void {
  stored.writeUInt32LE(revision % twoToThe32, 0);
  stored.writeUInt32LE(Math.floor(revision / twoToThe32), 4);
}
