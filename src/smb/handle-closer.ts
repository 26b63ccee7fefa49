import { closeFile, type ClosedFile } from "../file/filesystem/close.ts";
import { fileKeyOf } from "./files/break-notifier.ts";
import { nameChange } from "./files/change-dispatcher.ts";
import { ChangeAction } from "./files/directory-watch.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { SmbServerState } from "./server.ts";

/** Handles of one file, which one transaction closes. */
interface FileGroup {
  readonly handles: FileHandle[];
}

/** Handles that end together, such as those of a session. */
interface Closing {
  readonly groups: FileGroup[];
  /** Groups that are not closed yet. */
  left: number;
  error: unknown;
  readonly finish: () => void;
}

/** Of one round: transactions that share a commit, and work in one iteration of the event loop. */
const roundFilesMax = 32;
const roundWeightMax = 256;

/**
 * Closes handles that no CLOSE request names: of a session that ends, of a tree that is
 * disconnected, of a client that does not come back. A session may have 65,536 of them, so they are
 * closed in rounds, and other requests run in between. Endings that overlap take turns. If the
 * process is killed between two rounds, the handles left are swept at the next start.
 */
export class HandleCloser {
  readonly #server: SmbServerState;
  readonly #closings: Closing[] = [];
  readonly #given = new WeakSet<FileHandle>();
  #isRunning = false;

  constructor(server: SmbServerState) {
    this.#server = server;
  }

  /** Resolves when all are closed; rejects with the first error after having tried all. */
  async close(handles: readonly FileHandle[]): Promise<void> {
    for (const handle of handles) this.#given.add(handle);
    const groups = groupByFile(handles);
    if (groups.length === 0) return;
    const closing = await new Promise<Closing>((resolve) => {
      const made: Closing = {
        groups,
        left: groups.length,
        error: undefined,
        finish: () => resolve(made),
      };
      this.#closings.push(made);
      if (!this.#isRunning) void this.#run();
    });
    if (closing.error !== undefined) throw closing.error;
  }

  /** Whether the handle was given to `close`, also before its round. */
  isClosing(handle: FileHandle): boolean {
    return this.#given.has(handle);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#closings.length > 0) {
      await Promise.all(this.#nextRound().map((task) => this.#closeGroup(task)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isRunning = false;
  }

  #nextRound(): readonly GroupTask[] {
    const round: GroupTask[] = [];
    let weight = 0;
    while (round.length < roundFilesMax && weight < roundWeightMax) {
      const closing = this.#closings.shift();
      const group = closing?.groups.pop();
      if (closing === undefined || group === undefined) break;
      if (closing.groups.length > 0) this.#closings.push(closing);
      round.push({ closing, group });
      weight += weightOf(group);
    }
    return round;
  }

  async #closeGroup({ closing, group }: GroupTask): Promise<void> {
    try {
      await closeFileHandles(this.#server, group.handles);
    } catch (error) {
      closing.error ??= error;
    }
    closing.left -= 1;
    if (closing.left === 0) closing.finish();
  }
}

interface GroupTask {
  readonly closing: Closing;
  readonly group: FileGroup;
}

function groupByFile(handles: readonly FileHandle[]): FileGroup[] {
  const groups = new Map<string, FileGroup>();
  for (const handle of handles) {
    const name = `${fileKeyOf(handle)}:${handle.place.snapshot?.epoch ?? ""}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { handles: [handle] });
    else group.handles.push(handle);
  }
  return [...groups.values()];
}

/** Each CHANGE_NOTIFY that waits on a handle is answered when it closes. */
function weightOf({ handles }: FileGroup): number {
  return handles.reduce((sum, { watch }) => sum + 1 + (watch?.pendingRequests ?? 0), 0);
}

/** Closes handles of one file. */
export async function closeFileHandles(
  server: SmbServerState,
  handles: readonly FileHandle[],
): Promise<ClosedFile> {
  const [first] = handles;
  if (first === undefined) throw new Error("closeFileHandles needs at least one handle");
  for (const handle of handles) {
    handle.watch?.close();
    server.breakNotifier.remove(handle);
    server.replays.remove(handle);
  }
  const { place } = first;
  const ids = handles.map(({ id }) => id.persistent);
  const closed = await closeFile(server.world.runtime, place, ids);
  if (closed.isGone && closed.node !== undefined) {
    server.changeDispatcher.publish(place.share.id, [nameChange(ChangeAction.removed, closed.node)]);
  }
  if (closed.isPending) server.changeDispatcher.endWatchesOf(place.share.id, place.file);
  return closed;
}
