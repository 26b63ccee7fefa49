import type { Ticks } from "../../base/ticks.ts";
import type { VersionedEntry } from "../engine.ts";
import { keyOfText, type KeyText } from "../key-text.ts";
import type { Key, Value } from "../store.ts";
import { copyBytes } from "../../encoding/slabs.ts";

/** Every stored value is preceded by its stamp: eight bytes, little-endian. */
export const stampBytes = 8;
/** `00` starts no key of a table, so the store keeps its own records there. */
export const stateKey = new Uint8Array([0, 1]);
const twoToThe32 = 0x1_0000_0000;

export interface StoredState {
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly epoch: Ticks;
  readonly turn: number;
}

/** Of a scan: few who walk through thousands of entries ask for the bytes of their keys. */
export class ScannedEntry implements VersionedEntry {
  readonly text: KeyText;
  readonly value: Value;
  readonly revision: number;

  constructor(text: KeyText, stored: Uint8Array) {
    const { buffer, byteOffset, length } = stored;
    this.text = text;
    this.value = new Uint8Array(buffer, byteOffset + stampBytes, length - stampBytes);
    this.revision = readStamp(stored);
  }

  get key(): Key {
    return keyOfText(this.text);
  }
}

/** For bytes that are about to be reused. */
export function copyEntry(key: Key, text: KeyText, stored: Uint8Array): VersionedEntry {
  return { key, text, value: copyBytes(stored, stampBytes), revision: readStamp(stored) };
}

export function withRevision(value: Value, revision: number): Uint8Array {
  const stored = Buffer.allocUnsafe(stampBytes + value.length);
  writeStamp(stored, revision);
  stored.set(value, stampBytes);
  return stored;
}

/** What holds for the whole store, written with every batch. */
export function encodeState({ sequence, ticks, epoch, turn }: StoredState): Uint8Array {
  const stored = Buffer.alloc(stampBytes + 20);
  writeStamp(stored, sequence);
  stored.writeBigUInt64LE(ticks, stampBytes);
  stored.writeBigInt64LE(epoch, stampBytes + 8);
  stored.writeUInt32LE(turn, stampBytes + 16);
  return stored;
}

export function decodeState(stored: Uint8Array | undefined): StoredState {
  if (stored === undefined) return { sequence: 0, ticks: 0n, epoch: 0n, turn: 0 };
  const view = new DataView(stored.buffer, stored.byteOffset, stored.length);
  return {
    sequence: readStamp(stored),
    ticks: view.getBigUint64(stampBytes, true),
    epoch: view.getBigInt64(stampBytes + 8, true),
    turn: view.getUint32(stampBytes + 16, true),
  };
}

function readStamp(stored: Uint8Array): number {
  return readUint32(stored, 0) + readUint32(stored, 4) * twoToThe32;
}

function readUint32(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
  return low + (bytes[at + 3] ?? 0) * 0x100_0000;
}

function writeStamp(stored: Buffer, revision: number): void {
  stored.writeUInt32LE(revision % twoToThe32, 0);
  stored.writeUInt32LE(Math.floor(revision / twoToThe32), 4);
}
