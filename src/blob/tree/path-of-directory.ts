import type { RecordView } from "../../operation/view.ts";
import { blobNameUnitsMax } from "../../protocol/names.ts";
import { directoryNames } from "../indexes.ts";
import { rootName } from "./find-path.ts";

interface DirectoryPath {
  readonly container: bigint;
  readonly names: readonly string[];
}

/** The path of a directory from its id, up to the container. An id that is not that of a directory
 *  is taken for that of a container: on flat accounts blobs are keyed by it. */
export async function pathOfDirectory(view: RecordView, id: bigint): Promise<DirectoryPath> {
  const names: string[] = [];
  let current = id;
  while (names.length <= blobNameUnitsMax) {
    const place = await view.get(directoryNames, { id: current });
    if (place === undefined || place.name === rootName) break;
    names.unshift(place.name);
    current = place.parent;
  }
  return { container: current, names };
}
