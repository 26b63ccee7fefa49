import { rootId, type NodeRecord } from "../../file/records.ts";
import { fileTimeOf } from "../file-time.ts";
import type { FileFacts } from "../wire/file-facts.ts";

const clusterBytes = 4096;
const normalAttribute = 0x80;

/** Times, sizes and attributes of a file. Reads do not update the last access time; unless a client
 *  set it, it is the last write time. */
export function factsOf(node: NodeRecord, reservedBytes = 0): FileFacts {
  const size = node.content?.length ?? 0;
  const allocatedBytes = Math.max(size, reservedBytes);
  const isDirectory = node.kind === "directory";
  return {
    created: fileTimeOf(node.created),
    accessed: fileTimeOf(node.lastAccess ?? node.lastWrite),
    written: fileTimeOf(node.lastWrite),
    changed: fileTimeOf(node.change),
    allocated: isDirectory ? 0n : BigInt(Math.ceil(allocatedBytes / clusterBytes) * clusterBytes),
    size: BigInt(size),
    attributes: node.attributes === 0 ? normalAttribute : node.attributes,
  };
}

/** The file id that SMB sends. For the root directory it is the id of the share, because its id 0
 *  means "no id" in SMB. */
export function indexNumberOf(node: NodeRecord, share: bigint): bigint {
  return node.id === rootId ? share : node.id;
}
