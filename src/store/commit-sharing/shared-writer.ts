import type { BatchResult, BatchWriter, CommitBatch } from "../commit-batch.ts";
import type { CommitRole } from "../commit-role.ts";
import { GroupWriter } from "../group-writer.ts";
import type { Committed, GroupCommit, GroupWriterOptions } from "../group-writer.ts";
import { CommitFollower } from "./follower.ts";
import type { FollowerOptions } from "./follower.ts";
import { CommitLeader } from "./leader.ts";

export interface SharedWriterOptions extends Omit<FollowerOptions, "socket" | "alone"> {
  /** Called for commits of this process, which may contain transactions of its followers. */
  readonly onGroupCommit: (commit: GroupCommit) => void;
  /** Called for all commits that this process learns of. */
  readonly onCommitted: (commit: Committed) => void;
  readonly withUndo?: GroupWriterOptions["withUndo"];
}

/** Writes batches as the commit role of the process requires. */
export class SharedWriter implements BatchWriter {
  readonly #options: SharedWriterOptions;
  readonly #group: GroupWriter;
  #leader: CommitLeader | undefined;
  #follower: CommitFollower | undefined;
  #changing: Promise<void> = Promise.resolve();

  constructor(options: SharedWriterOptions) {
    this.#options = options;
    const onCommitted = (commit: GroupCommit): void => {
      options.onGroupCommit(commit);
      options.onCommitted(commit);
      (this.#leader ?? this.#follower)?.notify(commit);
    };
    this.#group = new GroupWriter({ ...options, onCommitted });
  }

  write(batch: CommitBatch): Promise<BatchResult> {
    return (this.#follower ?? this.#group).write(batch);
  }

  /** Must be called when the first watcher was added or the last one removed. */
  watchingChanged(): void {
    this.#follower?.watchingChanged();
  }

  /** Resolves when the role is changed. Changes run one at a time, in the order of the calls. */
  setRole(role: CommitRole): Promise<void> {
    const changed = this.#changing.then(() => this.#change(role));
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  async #change(role: CommitRole): Promise<void> {
    const [leader, follower] = [this.#leader, this.#follower];
    this.#follower = undefined;
    await follower?.close();
    await leader?.close();
    this.#leader = undefined;
    if (role.kind === "leader") {
      const { socket } = role;
      this.#leader = await CommitLeader.listen({ ...this.#options, socket, group: this.#group });
    } else if (role.kind === "follower") {
      const { socket } = role;
      this.#follower = new CommitFollower({ ...this.#options, socket, alone: this.#group });
      await this.#follower.connect();
    }
  }
}
