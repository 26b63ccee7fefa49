import { mkdir } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { ContentStore } from "../content/content.ts";
import { openDiskFiles } from "../content/disk-files.ts";
import { memoryFiles } from "../content/memory-files.ts";
import { openContentStore } from "../content/open-content.ts";
import type { ContentOptions } from "../content/open-content.ts";
import { sharedPins, soloPins } from "../content/pins.ts";
import type { Service } from "../core/service.ts";
import type { Clock, Log } from "../core/world.ts";
import { reclaimStep } from "../execution/reclaim.ts";
import { openLmdbStore } from "../store/lmdb/open-lmdb-store.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { openProcesses } from "../store/processes.ts";
import type { Store } from "../store/store.ts";
import { runInBackground } from "./background.ts";
import { locationRefused } from "./location-refused.ts";

export interface EngineOptions {
  /** Nothing is written to disk without one. */
  readonly location: string | undefined;
  /** How much content stays in memory without one; half of the machine's if not said. */
  readonly memoryBytesMax: number | undefined;
  /** Whose records and bytes they keep. */
  readonly services: readonly Service[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Where records and bytes are kept. */
export interface Engines {
  readonly store: Store;
  readonly content: ContentStore;
  /** Under which this process holds what lives no longer than a process. */
  readonly owner: string;
  /** The owners of all processes that share the store and are running now. */
  owners(): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

type Close = () => Promise<void>;
type Foundation = Pick<ContentOptions, "store" | "files" | "pins"> &
  Pick<Engines, "owner" | "owners">;

export async function openEngines(options: EngineOptions): Promise<Engines> {
  const { clock, log, services, location } = options;
  const contentTables = services.flatMap((service) => service.contentTables);
  const reclaimers = new Map(services.flatMap((service) => Object.entries(service.reclaimers)));
  const opened: Close[] = [];
  // What was opened last rests on what was opened before it.
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).toReversed()) await each();
  };
  try {
    const foundation =
      location === undefined ? inMemory(options, opened) : await onDisk(location, options, opened);
    const content = await openContentStore({ ...foundation, clock, log, contentTables });
    opened.push(() => content.close());
    const { store, owner, owners } = foundation;
    const chores = [
      { name: "jobs", round: () => reclaimStep({ store, content, reclaimers }) },
      { name: "content", round: () => content.reclaim() },
    ];
    const background = runInBackground(chores, { clock, log });
    opened.push(() => background.stop());
    return { store, content, owner, owners, close };
  } catch (error) {
    await close();
    throw location === undefined ? error : locationRefused(location, error);
  }
}

const soloOwner = "memory";

function inMemory({ clock, memoryBytesMax }: EngineOptions, opened: Close[]): Foundation {
  const store = openMemoryStore({ clock });
  opened.push(() => store.close());
  const bytesMax = memoryBytesMax ?? Math.floor(totalmem() / 2);
  const owners = () => Promise.resolve(new Set([soloOwner]));
  const files = memoryFiles({ bytesMax });
  return { store, files, pins: soloPins(soloOwner), owner: soloOwner, owners };
}

async function onDisk(
  location: string,
  { clock, log }: EngineOptions,
  opened: Close[],
): Promise<Foundation> {
  await mkdir(location, { recursive: true });
  const store = await openLmdbStore({ location: join(location, "store"), clock, log });
  opened.push(() => store.close());
  const passing = { location: join(location, "ephemeral"), ephemeral: true };
  const ephemeral = await openLmdbStore({ ...passing, clock, log });
  opened.push(() => ephemeral.close());
  const processes = await openProcesses({ store: ephemeral });
  opened.push(() => processes.close());
  const files = await openDiskFiles(join(location, "extents"));
  const owners = async () => new Set((await processes.live()).map(({ id }) => id));
  return { store, files, pins: sharedPins(processes), owner: processes.self, owners };
}
