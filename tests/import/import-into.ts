import { importFolder } from "../../src/commands/azurite-import/import-folder.ts";
import { AzuriteFolder } from "../../src/commands/azurite-import/azurite-folder.ts";
import type { ImportCounts } from "../../src/commands/azurite-import/import-context.ts";
import type { Progress } from "../../src/commands/progress.ts";
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

export async function importInto(
  location: string,
  path: string,
  progress?: Progress,
): Promise<ImportCounts> {
  const folder = new AzuriteFolder(path);
  const given = { folder, random, log, progress };
  const importing = withEngines(location, (stores) => importFolder({ ...given, stores }));
  return (await importing).counts;
}

export async function problemsOf(location: string): Promise<readonly string[]> {
  return (await checkFolder({ location, ...world })).problems;
}
