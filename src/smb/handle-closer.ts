import { isTemporary, NodeFenced } from "../store/store.ts";
import { closeFile, type CloseResult } from "../file/filesystem/close.ts";
import { fileKeyOf } from "./files/break-notifier.ts";
import { nameChange } from "./files/change-dispatcher.ts";
import { ChangeAction } from "./files/directory-watch.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { SmbServerState } from "./server.ts";

/** Closes handles of files, which also ends their opens in the lock records (`HandleCloser`). */

/** Handles of one file. They are closed in one transaction, because each close changes the same
 *  lock record. */
type FileGroup = FileHandle[];

/** One call of `close`, for example with all handles of a session. */
interface CloseCall {
  readonly groups: FileGroup[];
  /** Number of groups that are not closed yet. */
  left: number;
  error: unknown;
  readonly finish: () => void;
}

/** Most files whose handles are closed in one round: at the same time, in one commit. */
const roundFilesMax = 32;
/** Handles and pending CHANGE_NOTIFY requests after which a round takes no further file. */
const roundWeightMax = 256;
/** Pause before handles that could not be closed are tried again, as long as the server runs. */
const retryMilliseconds = 1000;

/** Closes handles: that of a CLOSE request, and many at once after LOGOFF, TREE_DISCONNECT, a lost
 *  connection or the time-out of a durable handle. A session may have 65,536 handles, so they are
 *  closed in rounds between which other requests run. Concurrent calls of `close` alternate. If the
 *  store fails, the close is tried again later: no client is left that could do it, and the open
 *  would reject other clients. If the process is killed between two rounds, another process removes
 *  its remaining opens (`sweepHandles`). */
export class HandleCloser {
  readonly #server: SmbServerState;
  readonly #calls: CloseCall[] = [];
  readonly #closing = new WeakSet<FileHandle>();
  /** Functions that cancel the retries of closes that have failed. */
  readonly #retries = new Set<() => void>();
  #isRunning = false;
  #isStopped = false;

  constructor(server: SmbServerState) {
    this.#server = server;
  }

  /** Closes handles in rounds. Resolves when all are closed, or will be tried again because the
   *  store failed. Rejects with the first other error, after closing the rest. */
  async close(handles: readonly FileHandle[]): Promise<void> {
    for (const handle of handles) this.#closing.add(handle);
    const groups = groupByFile(handles);
    if (groups.length === 0) return;
    const closing = await new Promise<CloseCall>((resolve) => {
      const created: CloseCall = {
        groups,
        left: groups.length,
        error: undefined,
        finish: () => resolve(created),
      };
      this.#calls.push(created);
      if (!this.#isRunning) void this.#run();
    });
    if (closing.error !== undefined) throw closing.error;
  }

  /** Closes the handle of a CLOSE request. The client cannot repeat the request, so a close that
   *  failed is tried again later as well. */
  async closeNow(handle: FileHandle): Promise<CloseResult> {
    try {
      return await closeFileHandles(this.#server, [handle]);
    } catch (error) {
      if (isTemporary(error)) this.#retryLater([handle], error);
      throw error;
    }
  }

  /** Whether the handle was passed to `close`, even if its round has not begun. */
  isClosing(handle: FileHandle): boolean {
    return this.#closing.has(handle);
  }

  /** Called when the server stops: from now on, failed closes are not tried again. */
  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#calls.length > 0) {
      await Promise.all(this.#nextRound().map((task) => this.#closeGroup(task)));
      await new Promise<void>((resolve) => this.#server.world.clock.nextIteration(resolve));
    }
    this.#isRunning = false;
  }

  #nextRound(): readonly GroupTask[] {
    const round: GroupTask[] = [];
    let weight = 0;
    while (round.length < roundFilesMax && weight < roundWeightMax) {
      const closing = this.#calls.shift();
      const group = closing?.groups.pop();
      if (closing === undefined || group === undefined) break;
      if (closing.groups.length > 0) this.#calls.push(closing);
      round.push({ closing, group });
      weight += weightOf(group);
    }
    return round;
  }

  async #closeGroup({ closing, group }: GroupTask): Promise<void> {
    try {
      await closeFileHandles(this.#server, group);
    } catch (error) {
      // The other nodes have closed the handles of a fenced node.
      const isDone = error instanceof NodeFenced;
      if (isTemporary(error) && !isDone) this.#retryLater(group, error);
      else if (!isDone) closing.error ??= error;
    }
    closing.left -= 1;
    if (closing.left === 0) closing.finish();
  }

  #retryLater(handles: readonly FileHandle[], error: Error): void {
    const { log, clock } = this.#server.world;
    log.warn({ err: error }, `closing handles failed; retrying in ${retryMilliseconds} ms`);
    if (this.#isStopped) return;
    const cancel = clock.after(retryMilliseconds, () => {
      this.#retries.delete(cancel);
      this.#server.closeInBackground(handles);
    });
    this.#retries.add(cancel);
  }
}

interface GroupTask {
  readonly closing: CloseCall;
  readonly group: FileGroup;
}

function groupByFile(handles: readonly FileHandle[]): FileGroup[] {
  const groups = new Map<string, FileGroup>();
  for (const handle of handles) {
    const key = `${fileKeyOf(handle)}:${handle.reference.snapshot?.epoch ?? ""}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [handle]);
    else group.push(handle);
  }
  return [...groups.values()];
}

/** The work of closing a group: its handles, and the CHANGE_NOTIFY requests that this completes. */
function weightOf(group: FileGroup): number {
  return group.reduce((sum, { watch }) => sum + 1 + (watch?.pendingRequests ?? 0), 0);
}

/** Closes handles of one file, and reports it to directory watches, audit log and request feed. */
async function closeFileHandles(
  server: SmbServerState,
  handles: readonly FileHandle[],
): Promise<CloseResult> {
  const [first] = handles;
  if (first === undefined) throw new Error("closeFileHandles needs at least one handle");
  for (const handle of handles) {
    handle.watch?.close();
    server.breakNotifier.remove(handle);
    server.replays.remove(handle);
  }
  const { reference } = first;
  const ids = handles.map(({ id }) => id.persistent);
  const closed = await closeFile(server.world.runtime, reference, ids);
  server.auditor?.closed(handles, closed.isDeleted);
  server.changeReporter?.closed(handles, closed.isDeleted);
  if (closed.isDeleted && closed.node !== undefined) {
    server.changeDispatcher.publish(reference.share.id, [
      nameChange(ChangeAction.removed, closed.node),
    ]);
  }
  if (closed.isPending) server.changeDispatcher.endWatchesOf(reference.share.id, reference.file);
  return closed;
}
