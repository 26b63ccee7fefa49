import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The content of `admin.json` in a data folder: the address of the admin listener of the server
 *  that uses the folder. Commands (`etagere status`) find the running server by it. */
interface AdminAddress {
  readonly url: string;
  readonly pid: number;
  /** Grants the same access as the admin token. Users who can read this file can read all data of
   *  the folder anyway. */
  readonly token?: string | undefined;
}

const fileName = "admin.json";

/** Writes `admin.json`; the returned function removes it. If several processes use the data folder,
 *  it has the address of the one that started last. */
export async function publishAdminAddress(
  location: string,
  address: AdminAddress,
): Promise<() => Promise<void>> {
  const path = join(location, fileName);
  // The file is removed first, because writing to an existing file would keep its mode, which may
  // give access to other users.
  await rm(path, { force: true });
  await writeFile(path, `${JSON.stringify(address)}\n`, { mode: 0o600 });
  return async () => {
    const found = await readAdminAddress(location);
    if (found?.pid === address.pid && found.url === address.url) await rm(path, { force: true });
  };
}

/** Reads `admin.json`; undefined if no server uses the folder. */
export async function readAdminAddress(location: string): Promise<AdminAddress | undefined> {
  try {
    const text = await readFile(join(location, fileName), "utf8");
    const { url, pid, token } = JSON.parse(text) as Partial<AdminAddress>;
    if (typeof url !== "string" || typeof pid !== "number") return undefined;
    return { url, pid, token: typeof token === "string" ? token : undefined };
  } catch {
    return undefined;
  }
}
