import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where the server that uses a location is looked after. */
export interface AdminAddress {
  readonly url: string;
  readonly pid: number;
  /** Administers the server as the admin token does. Who reads the folder can read everything. */
  readonly token?: string | undefined;
}

const fileName = "admin.json";

/** Of several processes on one location, the last to start is the one that is found. */
export async function publishAdminAddress(
  location: string,
  address: AdminAddress,
): Promise<() => Promise<void>> {
  const path = join(location, fileName);
  // One that is there keeps its mode, which may be open to others.
  await rm(path, { force: true });
  await writeFile(path, `${JSON.stringify(address)}\n`, { mode: 0o600 });
  return async () => {
    const found = await readAdminAddress(location);
    if (found?.pid === address.pid && found.url === address.url) await rm(path, { force: true });
  };
}

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
