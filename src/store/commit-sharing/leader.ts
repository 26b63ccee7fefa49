import { chmodSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";

import type { Log } from "../../base/world.ts";
import type { BatchRecordPosition, BatchResult, CommitBatch } from "../commit-batch.ts";
import type { Engine } from "../engine.ts";
import type { Committed, GroupWriter } from "../group-writer.ts";
import { droppedIndexes } from "./batch-record.ts";
import { MalformedFrame } from "./byte-reader.ts";
import { Connection } from "./connection.ts";
import { answerFrame, failureFrame, noticeFrame, readFollowerMessage } from "./messages.ts";
import type { FollowerMessage, Hello } from "./messages.ts";
import { removeStaleRecords } from "./stale-records.ts";

export interface LeaderOptions {
  /** Path of the Unix socket. A file of this name, which a killed leader has left, is replaced. */
  readonly socket: string;
  readonly group: GroupWriter;
  readonly engine: Engine;
  readonly log: Log | undefined;
  /** Called for commits that followers made alone. */
  readonly onCommitted: (commit: Committed) => void;
}

/** Limit of this server for connections to one leader. */
const followersMax = 1024;

/** Commits the batches of the followers together with those of its own process. */
export class CommitLeader {
  readonly #options: LeaderOptions;
  readonly #server: Server;
  readonly #followers = new Set<ConnectedFollower>();
  #isClosing = false;
  /** The removal of stale records in progress; the engine must not be closed before its end. */
  #removal: Promise<void> = Promise.resolve();

  private constructor(options: LeaderOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = followersMax;
  }

  /** Resolves when the leader accepts connections and records of ended followers are removed. */
  static async listen(options: LeaderOptions): Promise<CommitLeader> {
    const { socket: path, log } = options;
    const leader = new CommitLeader(options);
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      leader.#server.once("error", reject);
      leader.#server.listen(path, resolve);
    });
    leader.#server.on("error", (err) => log?.error({ err }, "commit leader cannot accept"));
    chmodSync(path, 0o600);
    await leader.#removeStaleRecords();
    return leader;
  }

  /** Informs the followers that have watchers of a commit, except the one that made it. */
  notify(commit: Committed, author?: ConnectedFollower): void {
    let frame: Buffer | undefined;
    for (const follower of this.#followers) {
      if (follower.isWatching && follower !== author)
        follower.connection.send((frame ??= noticeFrame(commit)));
    }
  }

  /** Answers the batches that have arrived, then closes all connections. Followers whose batches
   *  arrive later find out that these were not committed. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#server.close();
    for (const follower of this.#followers) {
      await follower.answered;
      follower.connection.end();
    }
    await this.#removal;
  }

  #accept(socket: Socket): void {
    const follower: ConnectedFollower = {
      connection: new Connection(socket, {
        onFrame: (content) => this.#receive(follower, content),
        onClose: (reason) => this.#disconnected(follower, reason),
      }),
      hello: undefined,
      isWatching: false,
      answered: undefined,
    };
    this.#followers.add(follower);
  }

  #disconnected(follower: ConnectedFollower, reason: unknown): void {
    this.#followers.delete(follower);
    const { log } = this.#options;
    const id = follower.hello?.follower;
    if (reason instanceof MalformedFrame) {
      log?.error({ err: reason, follower: id }, "malformed message of a commit follower");
    } else log?.debug({ err: reason, follower: id }, "commit follower disconnected");
  }

  #receive(follower: ConnectedFollower, content: Buffer): void {
    if (this.#isClosing) return;
    const message: FollowerMessage = readFollowerMessage(content, follower.hello);
    if (message.kind === "batch") this.#commit(follower, message.batch);
    else if (message.kind === "watching") follower.isWatching = message.isWatching;
    else if (message.kind === "notice") {
      this.#options.onCommitted(message);
      this.notify(message, follower);
    } else {
      follower.hello = message;
      this.#removal = this.#removal.then(() => this.#removeStaleRecords());
    }
  }

  #commit(
    follower: ConnectedFollower,
    batch: CommitBatch & { readonly record: BatchRecordPosition },
  ): void {
    if (follower.answered !== undefined) throw new MalformedFrame("batch before the last answer");
    const { connection } = follower;
    const { number } = batch.record;
    follower.answered = this.#options.group
      .writeLater(batch)
      .then(
        (result) => connection.send(answerFrame({ number, ...answerOf(batch, result) })),
        (error) => connection.send(failureFrame(number, error)),
      )
      .finally(() => {
        follower.answered = undefined;
      });
  }

  /** A failure is logged: the records are small, and the next follower triggers another try. */
  async #removeStaleRecords(): Promise<void> {
    try {
      await removeStaleRecords(this.#options.engine);
    } catch (err) {
      this.#options.log?.warn({ err }, "removing records of ended commit followers failed");
    }
  }
}

/** A connection to a follower; `hello` is undefined before its first message. */
interface ConnectedFollower {
  readonly connection: Connection;
  hello: Hello | undefined;
  isWatching: boolean;
  /** Resolves when the batch in progress was answered; undefined without one. A follower sends
   *  one batch at a time. */
  answered: Promise<void> | undefined;
}

function answerOf(
  batch: CommitBatch,
  result: BatchResult,
): { readonly isPostponed: boolean; readonly dropped: readonly number[] } {
  if (result.kind === "postponed") return { isPostponed: true, dropped: [] };
  return { isPostponed: false, dropped: droppedIndexes(batch, result.dropped) };
}
