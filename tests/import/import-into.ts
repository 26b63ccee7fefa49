import { importFolder } from "../../src/commands/azurite-import/import-folder.ts";
import type { ImportCounts } from "../../src/commands/azurite-import/import-context.ts";
import { openDataStores, type DataStores } from "../../src/data/data-stores.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realEnvironment } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";

const world = realEnvironment(silentLog);
const { random, log } = world;

export async function withEngines<T>(
  location: string | undefined,
  work: (stores: DataStores) => Promise<T>,
): Promise<T> {
  const places = { storeUrl: undefined, contentUrl: undefined, memoryBytesMax: undefined };
  const stores = await openDataStores({ location, ...places, ...world });
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

export function importInto(location: string, folder: string): Promise<ImportCounts> {
  return withEngines(location, (stores) => importFolder({ folder, stores, random, log }));
}

export async function problemsOf(location: string): Promise<readonly string[]> {
  return (await checkFolder({ location, ...world })).problems;
}
