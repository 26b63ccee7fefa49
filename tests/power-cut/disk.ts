import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Random } from "../verify/random.ts";

/** A write that may or may not have reached the disk. */
interface Pending {
  readonly id: number;
  readonly offset: number;
  readonly bytes: Buffer;
  isDone: boolean;
  isDurable: boolean;
}

interface Inode {
  /** The durable bytes. */
  base: Buffer;
  pending: Pending[];
}

/** A change of a folder that may or may not have reached the disk. */
interface Entry {
  readonly folder: string;
  apply(names: Map<string, Inode | "folder">): void;
}

/** Bytes that a disk writes atomically. */
const sectorBytes = 512;

/**
 * A simulated disk with minimal guarantees: a write survives a power loss if its file was synced
 * afterwards, a name if its folder was synced afterwards. Of everything else, any subset of sectors
 * survives.
 */
export class Disk {
  readonly #root: string;
  readonly #durableNames = new Map<string, Inode | "folder">();
  /** The state that programs see. */
  readonly #names = new Map<string, Inode | "folder">();
  #entries: Entry[] = [];
  readonly #syncing = new Map<number, { inode: Inode; covered: readonly Pending[] }>();
  readonly #syncingFolders = new Map<number, readonly Entry[]>();

  constructor(root: string) {
    this.#root = root;
  }

  holds(path: string): boolean {
    return path === this.#root || path.startsWith(`${this.#root}/`);
  }

  makeFolder(path: string): void {
    this.#change({ folder: dirname(path), apply: (names) => void names.set(path, "folder") });
  }

  /** Does nothing if the file exists. */
  open(path: string): void {
    if (this.#names.has(path)) return;
    const inode: Inode = { base: Buffer.alloc(0), pending: [] };
    this.#change({ folder: dirname(path), apply: (names) => void names.set(path, inode) });
  }

  rename(from: string, to: string): void {
    const moved = this.#names.get(from);
    this.#change({
      folder: dirname(to),
      apply(names) {
        if (moved === undefined || !names.has(from)) return;
        names.delete(from);
        names.set(to, moved);
      },
    });
  }

  link(from: string, to: string): void {
    const linked = this.#names.get(from);
    if (linked === undefined) return;
    this.#change({ folder: dirname(to), apply: (names) => void names.set(to, linked) });
  }

  remove(path: string): void {
    this.#change({ folder: dirname(path), apply: (names) => void names.delete(path) });
  }

  sizeOf(path: string): number {
    const inode = this.#names.get(path);
    if (inode === undefined || inode === "folder") return 0;
    const ends = inode.pending.map(({ offset, bytes }) => offset + bytes.length);
    return Math.max(inode.base.length, ...ends);
  }

  beginWrite(id: number, path: string, offset: number, bytes: Buffer): void {
    const inode = this.#names.get(path);
    if (inode === undefined || inode === "folder") return;
    inode.pending.push({ id, offset, bytes, isDone: false, isDurable: false });
  }

  endWrite(id: number, path: string, isDurable: boolean): void {
    const inode = this.#names.get(path);
    if (inode === undefined || inode === "folder") return;
    const write = inode.pending.find((each) => each.id === id);
    if (write === undefined) return;
    write.isDone = true;
    write.isDurable = isDurable;
    fold(inode);
  }

  /** Covers operations that completed before it began. */
  beginSync(id: number, path: string): void {
    const found = path === this.#root ? "folder" : this.#names.get(path);
    if (found === "folder") {
      this.#syncingFolders.set(
        id,
        this.#entries.filter(({ folder }) => folder === path),
      );
    } else if (found !== undefined) {
      this.#syncing.set(id, { inode: found, covered: found.pending.filter((each) => each.isDone) });
    }
  }

  endSync(id: number): void {
    const file = this.#syncing.get(id);
    if (file !== undefined) {
      for (const write of file.covered) write.isDurable = true;
      fold(file.inode);
    }
    const folder = new Set(this.#syncingFolders.get(id));
    for (const entry of folder) entry.apply(this.#durableNames);
    this.#entries = this.#entries.filter((entry) => !folder.has(entry));
    this.#syncing.delete(id);
    this.#syncingFolders.delete(id);
  }

  /**
   * Writes the state after a power loss to a folder; `kept` is the probability that an unsynced
   * piece survives.
   */
  cut(to: string, random: Random, kept: number, nameOf: (path: string) => string): void {
    const names = new Map(this.#durableNames);
    for (const entry of this.#entries) if (random.chance(kept)) entry.apply(names);
    mkdirSync(to, { recursive: true });
    for (const [path, inode] of names) {
      if (!this.#isReachable(names, path)) continue;
      const target = join(to, nameOf(relative(this.#root, path)));
      if (inode === "folder") mkdirSync(target, { recursive: true });
    }
    for (const [path, inode] of names) {
      if (inode === "folder" || !this.#isReachable(names, path)) continue;
      const target = join(to, nameOf(relative(this.#root, path)));
      writeFileSync(target, survivors(inode, random, kept));
    }
  }

  #isReachable(names: ReadonlyMap<string, Inode | "folder">, path: string): boolean {
    const folder = dirname(path);
    if (path === this.#root || folder === this.#root) return true;
    return names.get(folder) === "folder" && this.#isReachable(names, folder);
  }

  #change(entry: Entry): void {
    entry.apply(this.#names);
    this.#entries.push(entry);
  }
}

/** Merges durable writes, up to the first that is not, into the base. */
function fold(inode: Inode): void {
  const count = inode.pending.findIndex(({ isDurable }) => !isDurable);
  const durable = count < 0 ? inode.pending.splice(0) : inode.pending.splice(0, count);
  if (durable.length > 0) inode.base = overlaid(inode.base, durable);
}

function survivors({ base, pending }: Inode, random: Random, kept: number): Buffer {
  const pieces = pending.flatMap((write) => {
    if (write.isDurable) return [write];
    return sectorsOf(write).filter(() => random.chance(kept));
  });
  return overlaid(base, pieces);
}

interface Piece {
  readonly offset: number;
  readonly bytes: Buffer;
}

function sectorsOf({ offset, bytes }: Piece): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + sectorBytes - ((offset + at) % sectorBytes));
    pieces.push({ offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return pieces;
}

function overlaid(base: Buffer, pieces: readonly Piece[]): Buffer {
  const length = Math.max(base.length, ...pieces.map(({ offset, bytes }) => offset + bytes.length));
  const whole = Buffer.alloc(length);
  base.copy(whole);
  for (const { offset, bytes } of pieces) bytes.copy(whole, offset);
  return whole;
}
