import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkerProcess } from "./worker-process.ts";

/** Longest path of a Unix socket in bytes that all systems accept; Linux accepts 107. */
const socketPathBytesMax = 103;
const socketForm = /^commit-(\d+)-\d+\.sock$/;

/** Chooses the worker that commits for all others, and sends each worker its commit role. */
export class CommitRoles {
  readonly #location: string;
  /** The socket of the leader that each worker was sent last. */
  readonly #roles = new Map<WorkerProcess, string>();
  #temporaryFolder: string | undefined;
  #leader: WorkerProcess | undefined;
  #socket = "";
  /** Number of leaders so far: each has a socket of its own. */
  #leaderCount = 0;
  #updated: Promise<void> = Promise.resolve();

  constructor(location: string) {
    this.#location = location;
  }

  /** Called when a worker listens, leaves or has ended. Of the `candidates` the last becomes
   *  leader unless the present leader is among them; `others` become followers. Resolves when all
   *  have their roles. */
  update(
    candidates: readonly WorkerProcess[],
    others: readonly WorkerProcess[] = [],
  ): Promise<void> {
    this.#updated = this.#updated.then(() => this.#update(candidates, others));
    return this.#updated;
  }

  /** Removes the socket. */
  close(): void {
    this.#removeSocket();
    if (this.#temporaryFolder !== undefined) {
      rmSync(this.#temporaryFolder, { recursive: true, force: true });
    }
  }

  /** Removes the sockets of supervisors that were killed. */
  removeAbandoned(): void {
    for (const name of readNames(this.#location)) {
      const pid = Number(socketForm.exec(name)?.[1] ?? process.pid);
      if (pid !== process.pid && !isRunning(pid)) rmSync(join(this.#location, name));
    }
  }

  async #update(
    candidates: readonly WorkerProcess[],
    others: readonly WorkerProcess[],
  ): Promise<void> {
    const present = candidates.find((worker) => worker === this.#leader && !worker.isLeaving);
    const leader = present ?? candidates.findLast((worker) => !worker.isLeaving);
    if (leader === undefined) return;
    if (leader !== present) {
      this.#removeSocket();
      this.#leader = leader;
      this.#socket = this.#nextSocket();
      const socket = this.#socket;
      await leader.ask((id) => ({ kind: "commit-role", id, role: { kind: "leader", socket } }));
    }
    const socket = this.#socket;
    const followers = [...candidates, ...others].filter(
      (worker) => worker !== leader && this.#roles.get(worker) !== socket,
    );
    this.#roles.clear();
    for (const worker of [...candidates, ...others]) this.#roles.set(worker, socket);
    await Promise.all(
      followers.map((worker) =>
        worker.ask((id) => ({ kind: "commit-role", id, role: { kind: "follower", socket } })),
      ),
    );
  }

  /** In the data folder, or in a private folder if the path would be too long for a socket. */
  #nextSocket(): string {
    this.#leaderCount += 1;
    const name = `commit-${process.pid}-${this.#leaderCount}.sock`;
    const path = join(this.#location, name);
    if (Buffer.byteLength(path) <= socketPathBytesMax) return path;
    this.#temporaryFolder ??= mkdtempSync(join(tmpdir(), "etagere-"));
    return join(this.#temporaryFolder, name);
  }

  #removeSocket(): void {
    if (this.#socket !== "") rmSync(this.#socket, { force: true });
  }
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => socketForm.test(name));
  } catch {
    // The folder does not exist yet.
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
