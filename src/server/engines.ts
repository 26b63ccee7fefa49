import { totalmem } from "node:os";
import { join } from "node:path";
import type { ContentStore } from "../content/content.ts";
import { openDiskFiles } from "../content/disk-files.ts";
import { memoryFiles } from "../content/memory-files.ts";
import { openContentStore } from "../content/open-content.ts";
import type { ContentOptions } from "../content/open-content.ts";
import { sharedPins, soloPins } from "../content/pins.ts";
import type { Clock, Log } from "../core/world.ts";
import { openLmdbStore } from "../store/lmdb/open-lmdb-store.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { openProcesses } from "../store/processes.ts";
import type { Store } from "../store/store.ts";
import { runInBackground } from "./background.ts";
import { messageOf, StartRefused } from "./start-refused.ts";

export interface EngineOptions {
  /** Nothing is written to disk without one. */
  readonly folder: string | undefined;
  /** How much content stays in memory without a folder; half of the machine's if not said. */
  readonly memoryBytesMax: number | undefined;
  readonly contentTables: ContentOptions["contentTables"];
  readonly clock: Clock;
  readonly log: Log;
}

/** Where records and bytes are kept. */
export interface Engines {
  readonly store: Store;
  readonly content: ContentStore;
  close(): Promise<void>;
}

type Close = () => Promise<void>;
type Foundation = Pick<ContentOptions, "store" | "files" | "pins">;

export async function openEngines(options: EngineOptions): Promise<Engines> {
  const { clock, log, contentTables, folder } = options;
  const opened: Close[] = [];
  // What was opened last rests on what was opened before it.
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).toReversed()) await each();
  };
  try {
    const foundation =
      folder === undefined ? inMemory(options, opened) : await onDisk(folder, options, opened);
    const content = await openContentStore({ ...foundation, clock, log, contentTables });
    opened.push(() => content.close());
    const chores = [{ name: "reclaim", round: () => content.reclaim() }];
    const background = runInBackground(chores, { clock, log });
    opened.push(() => background.stop());
    return { store: foundation.store, content, close };
  } catch (error) {
    await close();
    if (folder === undefined) throw error;
    throw new StartRefused([`location: cannot be opened: ${messageOf(error)}`], error);
  }
}

function inMemory({ clock, memoryBytesMax }: EngineOptions, opened: Close[]): Foundation {
  const store = openMemoryStore({ clock });
  opened.push(() => store.close());
  const bytesMax = memoryBytesMax ?? Math.floor(totalmem() / 2);
  return { store, files: memoryFiles({ bytesMax }), pins: soloPins("memory") };
}

async function onDisk(
  folder: string,
  options: EngineOptions,
  opened: Close[],
): Promise<Foundation> {
  const { clock, log } = options;
  const store = await openLmdbStore({ location: join(folder, "store"), clock, log });
  opened.push(() => store.close());
  const location = join(folder, "ephemeral");
  const ephemeral = await openLmdbStore({ location, ephemeral: true, clock, log });
  opened.push(() => ephemeral.close());
  const processes = await openProcesses({ store: ephemeral });
  opened.push(() => processes.close());
  const files = await openDiskFiles(join(folder, "extents"));
  return { store, files, pins: sharedPins(processes) };
}
