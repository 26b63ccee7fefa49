import { getProperties } from "../rest/blob.ts";
import type { Source } from "../upload/source.ts";
import { addTransfers } from "../upload/transfers.ts";
import { isUploaded, uploadBlob } from "../upload/upload-blob.ts";
import type { FolderAddress } from "./blob-route.ts";

/** Queues uploads into a folder of a container. `etagOf` serves an overwrite: it replaces only the
 *  blob that exists at that moment. */
export function uploadToFolder(
  folder: FolderAddress,
  sources: readonly Source[],
  onDone: () => void,
): void {
  const blobOf = ({ path }: Source) => ({
    account: folder.account,
    container: folder.container,
    name: folder.prefix + path,
  });
  addTransfers(sources, {
    send: ({ source, ...work }) =>
      uploadBlob({ address: blobOf(source), file: source.file, ...work }),
    isOwn: (source) => isUploaded(blobOf(source), source.file),
    etagOf: async (source) => {
      const found = await getProperties(blobOf(source));
      return found.ok ? found.value.etag : undefined;
    },
    onDone,
  });
}
