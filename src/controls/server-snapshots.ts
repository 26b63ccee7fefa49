import { formatIso } from "../base/dates.ts";
import type { Log, Random } from "../base/world.ts";
import { SnapshotError, type SavedStates } from "../store/saved-states/saved-states.ts";
import type { Store } from "../store/store.ts";

/** Saved states of a running server or of a data folder, which users call snapshots:
 *  `server.snapshot()` and `etagere snapshot`. */

/** A saved state of all accounts. `await using` deletes it at the end of its block. */
export interface Snapshot extends AsyncDisposable {
  readonly name: string;
  /** Deletes the snapshot, which frees the space of what only it contains. */
  delete(): Promise<void>;
}

interface SnapshotEntry {
  readonly name: string;
  /** When the snapshot was saved (`2026-01-31T12:00:00.0000000Z`). */
  readonly savedAt: string;
}

/** What snapshots need of a running server, or of the data folder of a stopped one. */
interface SnapshotParts {
  readonly store: Store;
  readonly random: Random;
  readonly log: Log;
  /** Called after each restore, in which accounts may be missing that were configured later. */
  readonly onRestored: () => Promise<void>;
}

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const generatedIdBytes = 8;

/** Saves, restores and deletes states of all accounts by name. */
export class ServerSnapshots {
  readonly #parts: SnapshotParts;
  /** Names of snapshots without a chosen name; they are deleted when the server ends. */
  readonly #unnamed = new Set<string>();

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  async save(name?: string): Promise<Snapshot> {
    const chosen = name ?? `unnamed-${this.#newId()}`;
    checkName(chosen);
    const result = await this.#states().save(chosen);
    if (result === "name taken") {
      throw new SnapshotError(
        "SnapshotAlreadyExists",
        `snapshot "${chosen}" exists: delete it first, or choose another name`,
      );
    }
    if (result === "too many") {
      throw new SnapshotError("TooManySnapshots", "there are 1,000 snapshots: delete one first");
    }
    if (name === undefined) this.#unnamed.add(chosen);
    const remove = async (): Promise<void> => {
      this.#unnamed.delete(chosen);
      await this.#states().delete(chosen);
    };
    return { name: chosen, delete: remove, [Symbol.asyncDispose]: remove };
  }

  async restore(name: string): Promise<void> {
    checkName(name);
    if (!(await this.#states().restore(name))) throw notFound(name);
    await this.#parts.onRestored();
    this.#parts.log.info({ snapshot: name }, "snapshot restored on request");
  }

  async delete(name: string): Promise<void> {
    checkName(name);
    if (!(await this.#states().delete(name))) throw notFound(name);
    this.#unnamed.delete(name);
  }

  list(): readonly SnapshotEntry[] {
    return this.#states()
      .list()
      .map(({ name, savedAt }) => ({ name, savedAt: formatIso(savedAt) }));
  }

  /** Deletes the snapshots without a chosen name, at the end of the server. */
  async close(): Promise<void> {
    for (const name of this.#unnamed) await this.#states().delete(name);
    this.#unnamed.clear();
  }

  #states(): SavedStates {
    const { savedStates } = this.#parts.store;
    if (savedStates !== undefined) return savedStates;
    throw new SnapshotError(
      "SnapshotsNotSupported",
      "snapshots need records in memory or in a data folder, not in a database; " +
        "etagere export and etagere load work with both",
    );
  }

  #newId(): string {
    return Buffer.from(this.#parts.random.bytes(generatedIdBytes)).toString("hex");
  }
}

function checkName(name: string): void {
  if (nameForm.test(name)) return;
  throw new SnapshotError(
    "InvalidSnapshotName",
    `snapshot name ${JSON.stringify(name)}: must be 1 to 64 letters, digits, ".", "_" or "-", ` +
      "and begin with a letter or digit",
  );
}

function notFound(name: string): SnapshotError {
  return new SnapshotError("SnapshotNotFound", `no snapshot "${name}"`);
}
