import type { Clock, Log } from "../../base/world.ts";
import { postponed } from "../commit-batch.ts";
import type { BatchResult, BatchWriter, CommitBatch } from "../commit-batch.ts";
import type { Engine } from "../engine.ts";
import type { Committed } from "../group-writer.ts";
import type { KeyText } from "../key-text.ts";
import { attemptsAt, batchRecordWrite, readBatchRecord, recordPosition } from "./batch-record.ts";
import type { BatchRecord } from "./batch-record.ts";
import { LeaderConnection } from "./leader-connection.ts";
import { batchFrame, helloFrame, noticeFrame, watchingFrame } from "./messages.ts";
import type { Answer } from "./messages.ts";

export interface FollowerOptions {
  /** Path of the leader's Unix socket. */
  readonly socket: string;
  readonly identity: FollowerIdentity;
  /** Commits batches in this process, without the leader. */
  readonly alone: BatchWriter;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log | undefined;
  /** Whether a key is volatile. A batch that changes only volatile keys needs no flush, so it is
   *  not sent to the leader. */
  readonly isVolatile: (text: KeyText) => boolean;
  /** Whether this process has watchers, so that the leader must report its commits. */
  readonly isWatching: () => boolean;
  /** Called for commits of the leader and of its other followers. */
  readonly onCommitted: (commit: Committed) => void;
}

/** Identifies one opening of a store by a process. */
export interface FollowerIdentity {
  /** Id of the process, for commit priority. */
  readonly owner: number;
  /** Key of the batch record; no later opening uses it again. */
  readonly id: string;
  /** Number of the last batch that was sent to a leader. */
  lastNumber: number;
}

/** Time between two attempts to connect to the leader. */
const reconnectMilliseconds = 100;
/** Attempts that fail before a warning: when workers stop or change roles, the leader may be the
 *  first to end. */
const quietFailuresMax = 10;

/** Sends the batches of this process to the leader. While there is no connection, and while no
 *  other process commits, it commits them alone: a batch that would share its flush with no other
 *  does not need the round trip. If the connection is lost before the answer, the batch record says
 *  whether the batch was committed. */
export class CommitFollower implements BatchWriter {
  readonly #options: FollowerOptions;
  #connection: LeaderConnection | undefined;
  /** Settles when the batch in progress was decided. */
  #writing: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** The sequence after the last batch, provided that no other process has committed since the
   *  state for which that batch was valid. */
  #ownSequence: number | undefined;
  /** Lost connections and failed attempts since the last successful one. */
  #failures = 0;
  #cancelReconnect = (): void => undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Resolves when the connection is open or the first attempt has failed. */
  async connect(): Promise<void> {
    const { socket, clock, identity, log } = this.#options;
    const connection = await LeaderConnection.open({
      socket,
      clock,
      onNotice: (notice) => this.#options.onCommitted(notice),
      onClose: (reason) => this.#disconnected(reason),
    });
    if (connection === undefined) return;
    if (this.#isClosed) return connection.end();
    connection.send(helloFrame({ owner: identity.owner, follower: identity.id }));
    this.#connection = connection;
    this.#failures = 0;
    this.watchingChanged();
    log?.debug({ socket }, "connected to commit leader");
  }

  /** Sends the batch to the leader. Commits it alone if there is no connection, if no other process
   *  has committed since the previous batch, if it needs no flush or if it does not fit into a
   *  frame. */
  async write(batch: CommitBatch): Promise<BatchResult> {
    const isOnlyWriter = batch.sequence === this.#ownSequence;
    const result = await (isOnlyWriter ? this.#options.alone.write(batch) : this.#share(batch));
    this.#ownSequence = sequenceAfter(batch, result);
    return result;
  }

  /** Informs the leader of a commit that this process made alone. */
  notify(commit: Committed): void {
    this.#connection?.send(noticeFrame(commit));
  }

  #share(batch: CommitBatch): Promise<BatchResult> {
    const { identity, alone } = this.#options;
    const connection = this.#connection;
    if (connection === undefined || this.#isClosed || !this.#needsFlush(batch)) {
      return alone.write(batch);
    }
    const number = identity.lastNumber + 1;
    const frame = batchFrame(batch, number);
    if (frame === undefined) return alone.write(batch);
    identity.lastNumber = number;
    const result = connection
      .exchange(frame, number)
      .then((answer) =>
        answer === undefined ? this.#resolveDoubt(batch, number) : resultOf(batch, answer),
      );
    this.#writing = result.catch(() => undefined);
    return result;
  }

  /** Must be called when the first watcher was added or the last one removed. */
  watchingChanged(): void {
    this.#connection?.send(watchingFrame(this.#options.isWatching()));
  }

  /** Waits until the batch in progress is decided, then closes the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelReconnect();
    await this.#writing;
    this.#connection?.end();
    this.#connection = undefined;
  }

  /** Decides a batch whose answer is missing. Its record says whether it was committed. If there is
   *  none yet, a record that fences the batch is written, so that the leader, which may still be
   *  running, will not commit it; then it is written again as a new batch. */
  async #resolveDoubt(batch: CommitBatch, number: number): Promise<BatchResult> {
    const { engine, identity, log } = this.#options;
    const position = recordPosition(identity.id, number);
    let found: BatchRecord | undefined;
    await engine.commit((current) => {
      found = readBatchRecord(position, current);
      if (found?.number === number) return undefined;
      // Other processes recognise a commit by its sequence.
      const sequence = current.sequence + 1;
      const fence = { number, isCommitted: false, dropped: [] };
      const writes = [batchRecordWrite(position, fence, sequence)];
      return { sequence, ticks: current.ticks, writes, mayUseReserve: true };
    });
    const isCommitted = found?.number === number && found.isCommitted;
    log?.debug({ batch: number, isCommitted }, "decided the batch that the commit leader had");
    if (found === undefined || !isCommitted) return postponed;
    return { kind: "committed", dropped: attemptsAt(batch, found.dropped) };
  }

  #needsFlush({ attempts }: CommitBatch): boolean {
    for (const { changes } of attempts) {
      for (const { text } of changes.inInsertionOrder()) {
        if (!this.#options.isVolatile(text)) return true;
      }
    }
    return false;
  }

  #disconnected(reason: unknown): void {
    this.#connection = undefined;
    if (this.#isClosed) return;
    const { clock, log, socket } = this.#options;
    this.#failures += 1;
    // One message per outage.
    if (this.#failures === quietFailuresMax) {
      log?.warn({ err: reason, socket }, "no connection to commit leader; committing alone");
    }
    this.#cancelReconnect = clock.after(reconnectMilliseconds, () => void this.connect());
  }
}

/** The sequence after the batch if no other process has committed meanwhile. */
function sequenceAfter({ attempts, sequence }: CommitBatch, result: BatchResult) {
  if (result.kind === "postponed") return undefined;
  let after = sequence;
  for (const each of attempts) {
    if (!each.changes.isEmpty && !result.dropped.has(each)) after += 1;
  }
  return after;
}

function resultOf(batch: CommitBatch, { isPostponed, dropped }: Answer): BatchResult {
  if (isPostponed) return postponed;
  return { kind: "committed", dropped: attemptsAt(batch, dropped) };
}
