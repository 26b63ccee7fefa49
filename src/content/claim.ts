import type { Store } from "../store/store.ts";
import type { ExtentFiles } from "./extent-files.ts";
import { storeIdCodec, storeIdKey } from "./tables.ts";

/** Prevents two stores from using the same extent storage, where their extents would have the same
 *  names. */
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
