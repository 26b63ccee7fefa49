import type { Store } from "../store/store.ts";
import type { ExtentFiles } from "./extent-files.ts";
import { storeIdCodec, storeIdKey } from "./tables.ts";

/** Marks the extent storage as that of this store; throws if it belongs to another one. Extents of
 *  two stores have the same names, so they must not share a storage. */
export async function claimFiles(
  store: Store,
  files: ExtentFiles,
  newId: () => string,
): Promise<void> {
  if (files.claim === undefined) return;
  const id = await store.transact(async (tx) => {
    const stored = await tx.get(storeIdKey());
    if (stored !== undefined) return storeIdCodec.decode(stored).id;
    const made = newId();
    tx.put(storeIdKey(), storeIdCodec.encode({ id: made }));
    return made;
  });
  await files.claim(id);
}
