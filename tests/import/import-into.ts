import { importFolder } from "../../src/server/azurite-import/import-folder.ts";
import type { ImportCounts } from "../../src/server/azurite-import/import-context.ts";
import { openDataStores, type DataStores } from "../../src/server/data-stores.ts";
import { checkFolder } from "../../src/server/folder-check/check-folder.ts";
import { services } from "../../src/server/services.ts";
import { realEnvironment } from "../../src/server/server-environment.ts";
import { silentLog } from "../../src/store/silent-log.ts";

const world = realEnvironment(silentLog);
const { random, log } = world;

export async function withEngines<T>(
  location: string | undefined,
  work: (engines: DataStores) => Promise<T>,
): Promise<T> {
  const places = { storeUrl: undefined, contentUrl: undefined, memoryBytesMax: undefined };
  const engines = await openDataStores({ location, ...places, services, ...world });
  try {
    return await work(engines);
  } finally {
    await engines.close();
  }
}

export function importInto(location: string, folder: string): Promise<ImportCounts> {
  return withEngines(location, (engines) => importFolder({ folder, engines, random, log }));
}

export async function problemsOf(location: string): Promise<readonly string[]> {
  return (await checkFolder({ location, ...world })).problems;
}
