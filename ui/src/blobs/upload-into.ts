import { getProperties } from "../rest/blob.ts";
import type { Source } from "../upload/source.ts";
import { addTransfers } from "../upload/transfers.ts";
import { uploadBlob } from "../upload/upload-blob.ts";
import type { FolderPlace } from "./blob-route.ts";

export function uploadInto(
  folder: FolderPlace,
  sources: readonly Source[],
  onDone: () => void,
): void {
  const placeOf = ({ path }: Source) => ({
    account: folder.account,
    container: folder.container,
    name: folder.prefix + path,
  });
  addTransfers(sources, {
    send: ({ source, ...work }) =>
      uploadBlob({ place: placeOf(source), file: source.file, ...work }),
    etagOf: async (source) => {
      const found = await getProperties(placeOf(source));
      return found.ok ? found.value.etag : undefined;
    },
    onDone,
  });
}
