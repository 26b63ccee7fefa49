import { readAdminAddress } from "../server/admin-address.ts";
import { defaultLocation, flagDefaults } from "../server/flags.ts";

/** Where the admin listener of a server is. */
export interface ServerAddress {
  readonly url: string;
  /** The local admin token from the server's data folder. */
  readonly token?: string | undefined;
}

/** Finds the server that uses a location. Without a location, the default one is tried, then the
 *  default address. */
export async function findServer(location: string | undefined): Promise<ServerAddress | undefined> {
  const found = await readAdminAddress(location ?? defaultLocation);
  if (found !== undefined || location !== undefined) return found;
  return { url: `http://${flagDefaults.adminHost}:${flagDefaults.adminPort}` };
}
