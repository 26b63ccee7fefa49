import type { Engine, EngineBatch, EngineReader, EngineView, EngineWrite } from "../engine.ts";
import type { KeyText } from "../key-text.ts";
import { StoreBusy, type Key } from "../store.ts";
import type { LmdbEngine } from "./lmdb-engine.ts";
import { tombstone, isVolatile, OverlayView, type VolatileRange } from "./overlay-view.ts";

const opensMax = 1000;
/** Keys that a batch looks at to tidy them up, at least. */
const settledMin = 8;
/** And for each volatile key of its own, or else they would become more for as long as there is
 *  much to do: it takes a batch of either file and one more look until a key is settled. */
const settledPerWrite = 4;
const unsettledMax = 1_000_000;

/**
 * Two files as one. A batch that changes volatile keys alone goes to a second file that is never
 * flushed; any other goes to the first as a whole, its volatile keys too, so that each commit is
 * one commit of one file. Of what the two hold at a volatile key the later stamp counts, and a key
 * that is gone leaves an empty value where the other file may hold something older.
 *
 * All commits take the lock of the first file and are numbered together, so the state of both is
 * that after the latest commit of either. The second file remembers the commit of the first that it
 * came after: a reader who sees less of the first looks again.
 *
 * Example: a file is created and opened (first file: lock@7), then closed (second file: gone@8).
 * The next batch of the first file takes lock@7 out, the next of the second gone@8.
 */
export class OverlayEngine implements Engine {
  readonly #durable: LmdbEngine;
  readonly #passing: LmdbEngine;
  readonly #range: VolatileRange;
  /** Keys that both files know something of, as far as this process has written them. */
  readonly #overlapping = new Map<KeyText, Key>();

  constructor(durable: LmdbEngine, volatile: LmdbEngine, range: VolatileRange) {
    this.#durable = durable;
    this.#passing = volatile;
    this.#range = range;
  }

  open(): EngineView {
    for (let opens = 0; opens < opensMax; opens += 1) {
      const durable = this.#durable.open();
      const passing = openAfter(durable, this.#passing);
      if (cameAfter(passing) <= durable.sequence) {
        const close = (): void => durable.close();
        return new OverlayView(durable, passing, { range: this.#range, close });
      }
      passing.close();
      durable.close();
    }
    throw new StoreBusy("two files never showed the same state");
  }

  commit(
    decide: (current: EngineReader) => EngineBatch | undefined,
    writesExpected?: number,
  ): Promise<void> {
    const work = (files: Files): EngineBatch | undefined => {
      const close = (): void => undefined;
      const { durable, passing } = files;
      const current = new OverlayView(durable, passing, { range: this.#range, close });
      const batch = decide(current);
      if (batch === undefined) return undefined;
      if (!this.#isPassing(batch, current)) return this.#complete(batch, files);
      this.#commitPassing(batch, files);
      return undefined;
    };
    return this.#underLock(work, writesExpected);
  }

  /** Clears away what processes that were killed have left unsettled. For one who is alone. */
  async reconcileAll(): Promise<void> {
    await this.#underLock((files) => {
      for (const reader of [files.durable, files.passing]) {
        const found = reader.scan({ ...this.#range, reverse: false }, unsettledMax);
        for (const { key, text } of found) this.#overlapping.set(text, key);
      }
      const writes = this.#settle(noWrites, files, "durable", unsettledMax);
      return writes.length === 0 ? undefined : { ...nextOf(files), writes, mayUseReserve: true };
    });
    await this.#underLock((files) => {
      const writes = this.#settle(noWrites, files, "passing", unsettledMax);
      if (writes.length > 0) this.#commitPassing({ ...nextOf(files), writes }, files);
      return undefined;
    });
  }

  checkReaders(): void {
    this.#durable.checkReaders();
    this.#passing.checkReaders();
  }

  async close(): Promise<void> {
    await this.#passing.close();
    await this.#durable.close();
  }

  /** What is returned goes to the first file. */
  #underLock(
    work: (files: Files) => EngineBatch | undefined,
    writesExpected?: number,
  ): Promise<void> {
    const decide = (durable: EngineReader): EngineBatch | undefined => {
      const passing = this.#passing.open();
      try {
        return work({ durable, passing });
      } finally {
        passing.close();
      }
    };
    return this.#durable.commit(decide, writesExpected);
  }

  #isPassing({ writes, epoch, turn }: EngineBatch, current: EngineReader): boolean {
    if (writes.length === 0 || epoch !== undefined) return false;
    if (turn !== undefined && turn !== current.priorityOwner) return false;
    return writes.every(({ text }) => isVolatile(this.#range, text));
  }

  #complete(batch: EngineBatch, files: Files): EngineBatch {
    const writes = batch.writes.map((write) =>
      isVolatile(this.#range, write.text) ? this.#over(write, files.passing) : write,
    );
    // A reader who has the first file as it was must see by its number that it is another now.
    const isNumbered = batch.sequence > files.durable.sequence;
    const settled = isNumbered
      ? this.#settle(batch.writes, files, "durable", this.#settledBy(batch))
      : noWrites;
    return { ...batch, writes: [...writes, ...settled] };
  }

  #commitPassing(batch: EngineBatch, files: Files): void {
    const { durable } = files;
    const writes = batch.writes.map((write) => this.#over(write, durable));
    const settled = this.#settle(batch.writes, files, "passing", this.#settledBy(batch));
    const epoch = BigInt(durable.sequence);
    this.#passing.commitSync(() => ({ ...batch, epoch, writes: [...writes, ...settled] }));
  }

  /** An older value in the other file must not come back to light. */
  #over(write: EngineWrite, other: EngineReader): EngineWrite {
    const { key, text, value } = write;
    if (write.revision === noStamp || other.get(key, text) === undefined) return write;
    this.#overlapping.set(text, key);
    return value === undefined ? { ...write, value: tombstone } : write;
  }

  #settledBy({ writes }: EngineBatch): number {
    const own = writes.filter(({ text }) => isVolatile(this.#range, text));
    return Math.max(settledMin, settledPerWrite * own.length);
  }

  /** Takes out of one file what the other has made needless. */
  #settle(
    written: readonly EngineWrite[],
    { durable, passing }: Files,
    file: Needless,
    countMax: number,
  ): readonly EngineWrite[] {
    if (this.#overlapping.size === 0) return noWrites;
    const texts = new Set(written.map(({ text }) => text));
    const removals: EngineWrite[] = [];
    for (const [text, key] of firstOf(this.#overlapping, countMax)) {
      // To the end of the row, so that those that must wait do not stand in the way.
      this.#overlapping.delete(text);
      const needless = redundantIn(durable.get(key, text), passing.get(key, text));
      const isWritten = texts.has(text);
      if (needless === "none" && !isWritten) continue;
      this.#overlapping.set(text, key);
      if (needless === file && !isWritten) {
        removals.push({ key, text, value: undefined, revision: noStamp });
      }
    }
    return removals;
  }
}

interface Files {
  readonly durable: EngineReader;
  readonly passing: EngineView;
}

/** What is open already is not left behind if the second cannot be. */
function openAfter(durable: EngineView, passing: LmdbEngine): EngineView {
  try {
    return passing.open();
  } catch (error) {
    durable.close();
    throw error;
  }
}

const noWrites: readonly EngineWrite[] = [];
/** What is taken out of one file only. */
const noStamp = 0;

function nextOf({ durable, passing }: Files): Omit<EngineBatch, "writes"> {
  const sequence = Math.max(durable.sequence, passing.sequence) + 1;
  return { sequence, ticks: durable.ticks > passing.ticks ? durable.ticks : passing.ticks };
}

function firstOf<K, V>(map: ReadonlyMap<K, V>, countMax: number): readonly (readonly [K, V])[] {
  const found: (readonly [K, V])[] = [];
  for (const entry of map) {
    if (found.length >= countMax) break;
    found.push(entry);
  }
  return found;
}

/** Which file could do without a key; `neither` while an older value is covered by a later one. */
type Needless = "durable" | "passing" | "neither" | "none";

interface Held {
  readonly revision: number;
  readonly value: Uint8Array;
}

function redundantIn(kept: Held | undefined, passing: Held | undefined): Needless {
  if (kept === undefined) return passing?.value.length === 0 ? "passing" : "none";
  if (passing === undefined) return kept.value.length === 0 ? "durable" : "none";
  if (kept.revision > passing.revision) return "passing";
  return passing.value.length === 0 ? "durable" : "neither";
}

/** Where an engine keeps its epoch the second file keeps this: it has no time of its own. */
function cameAfter({ clockOffset: epoch }: EngineReader): number {
  return Number(epoch);
}

export function knowsTooMuch(passing: LmdbEngine, durable: LmdbEngine): boolean {
  const [after, present] = [passing.open(), durable.open()];
  after.close();
  present.close();
  return cameAfter(after) > present.sequence;
}
