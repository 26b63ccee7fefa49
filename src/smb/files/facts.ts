import { rootId, type NodeRecord } from "../../file/records.ts";
import { fileTimeOf } from "../file-time.ts";
import type { FileFacts } from "../wire/file-facts.ts";

const clusterBytes = 4096;
const normalAttribute = 0x80;

/** What answers say of a file. Reading is not recorded: the last access is what was set as such. */
export function factsOf(node: NodeRecord, reservedBytes = 0): FileFacts {
  const size = node.content?.length ?? 0;
  const room = Math.max(size, reservedBytes);
  const isDirectory = node.kind === "directory";
  return {
    created: fileTimeOf(node.created),
    accessed: fileTimeOf(node.lastAccess ?? node.lastWrite),
    written: fileTimeOf(node.lastWrite),
    changed: fileTimeOf(node.change),
    allocated: isDirectory ? 0n : BigInt(Math.ceil(room / clusterBytes) * clusterBytes),
    size: BigInt(size),
    attributes: node.attributes === 0 ? normalAttribute : node.attributes,
  };
}

/** The root has the id zero within its share, which on the wire would mean that there is none. */
export function indexNumberOf(node: NodeRecord, share: bigint): bigint {
  return node.id === rootId ? share : node.id;
}
