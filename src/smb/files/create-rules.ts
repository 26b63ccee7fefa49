import { Status, type NtStatus } from "../status.ts";
import { resolveAccess, type FileHandle } from "./file-handle.ts";
import {
  contextData,
  ContextName,
  encodeCreateResponse,
  type CreateContext,
  type CreateRequest,
} from "../wire/create.ts";
import { newResponse, type SmbResponse } from "../request.ts";
import { maximalAccess } from "../../file/filesystem/open.ts";
import type { FileReference } from "../../file/filesystem/file-reference.ts";
import type { NodeRecord } from "../../file/records.ts";
import { Writer } from "../wire/buffers.ts";
import { factsOf, indexNumberOf } from "./information-classes.ts";

/** The parts of CREATE that need no lock state: validation of the request, and the response
 *  contexts that depend only on the file ([MS-SMB2] 3.3.5.9). */

export const CreateOption = {
  directory: 0x1,
  notDirectory: 0x40,
  connectsTree: 0x80,
  deleteOnClose: 0x1000,
  openById: 0x2000,
  reserveFilter: 0x10_0000,
} as const;

const impersonationMax = 3;
const shareBits = 0x7;
const dispositionMax = 5;
const unknownOptions = 0xff00_0000;
const unsupportedOptions =
  CreateOption.connectsTree | CreateOption.openById | CreateOption.reserveFilter;
/** The attributes that a client may send ([MS-FSCC] 2.6). */
const attributeBits = 0x0000_7fb7 | 0x0002_8000;
/** FILE_SUPERSEDE, FILE_OVERWRITE and FILE_OVERWRITE_IF. */
const overwriting: ReadonlySet<number> = new Set([0, 4, 5]);

/** Checks the fields of a CREATE that need no file; returns the status of an invalid one. */
export function checkCreate(create: CreateRequest): NtStatus | undefined {
  const { options, disposition } = create;
  if (create.impersonation > impersonationMax) return Status.badImpersonationLevel;
  if ((create.share & ~shareBits) !== 0) return Status.invalidParameter;
  if (disposition > dispositionMax) return Status.invalidParameter;
  if ((options & unknownOptions) !== 0) return Status.invalidParameter;
  if ((options & unsupportedOptions) !== 0) return Status.notSupported;
  const isDirectory = (options & CreateOption.directory) !== 0;
  if (isDirectory && (options & CreateOption.notDirectory) !== 0) return Status.invalidParameter;
  if (isDirectory && overwriting.has(disposition)) return Status.invalidParameter;
  const rights = resolveAccess(create.access);
  if (typeof rights === "number") return rights;
  if ((create.attributes & ~attributeBits) !== 0) return Status.invalidParameter;
  const attributes = contextData(create, ContextName.extendedAttributes);
  return (attributes?.length ?? 0) > 0 ? Status.easNotSupported : undefined;
}

/** What the response to a successful CREATE says beside its handle. */
interface OpenedFile {
  readonly node: NodeRecord;
  /** What the CREATE did to the file (CreateAction): created, opened, overwritten. */
  readonly action: number;
  readonly level: number;
  /** The contexts about caching and durability that the response has. */
  readonly contexts: readonly (CreateContext | undefined)[];
}

export function createResponse(
  { id, reservedBytes }: FileHandle,
  { node, action, level, contexts }: OpenedFile,
): SmbResponse {
  const body = encodeCreateResponse({
    oplock: level,
    action,
    facts: factsOf(node, reservedBytes),
    fileId: id,
    contexts: contexts.filter((context) => context !== undefined),
  });
  return { ...newResponse(body), fileId: id };
}

/** The response contexts that a CREATE asked for and that depend only on the file: maximal access
 *  and on-disk id ([MS-SMB2] 2.2.14.2.5 and 2.2.14.2.9). */
export function factContexts(
  create: CreateRequest,
  { share: { id: share } }: FileReference,
  node: NodeRecord,
): readonly CreateContext[] {
  return create.contexts.flatMap(({ name }) => {
    if (name === ContextName.maximalAccess) {
      return { name, data: new Writer(8).u32(Status.success).u32(maximalAccess(node)).finish() };
    }
    if (name !== ContextName.diskId) return [];
    const index = indexNumberOf(node, share);
    return { name, data: new Writer(32).u64(index).u64(share).zeros(16).finish() };
  });
}
