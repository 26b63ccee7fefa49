import { listDirectory } from "../../file/filesystem/list.ts";
import type { NodeRecord } from "../../file/records.ts";
import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import { transactBytesMax } from "../limits.ts";
import { coversBytes, type TreeRequest } from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import {
  encodeEntry,
  entryBytesMin,
  newListing,
  type Listing,
  type NamedNode,
} from "../files/directory-entry.ts";
import type { FileHandle } from "../files/file-handle.ts";
import { findFile, isResponse } from "../files/lookup.ts";
import { Status, statusOf } from "../status.ts";
import { isPattern, matches } from "../files/wildcard.ts";
import { foldName } from "../../file/shared/fold.ts";
import {
  decodeQueryDirectory,
  DirectoryFlag,
  encodeDataResponse,
  type QueryDirectoryRequest,
} from "../wire/query.ts";

/** Names that are read in one transaction. If the response has room left, the next ones are
 *  read. */
const pageEntries = 500;
const pagesMax = 10_000;
const alignment = 8;

/** QUERY_DIRECTORY: lists the entries that match a pattern, continuing where the last request
 *  ended. */
export async function queryDirectory(request: TreeRequest): Promise<SmbResponse> {
  const asked = decodeQueryDirectory(request.message);
  if (asked === undefined || asked.outputBytesMax > transactBytesMax) {
    return errorResponse(Status.invalidParameter);
  }
  if (!coversBytes(request, asked.outputBytesMax)) return errorResponse(Status.invalidParameter);
  const handle = findFile(request, asked.fileId);
  if (isResponse(handle)) return handle;
  if (!handle.isDirectory) return errorResponse(Status.invalidParameter);
  if (!has(handle.access, Right.readData)) return errorResponse(Status.accessDenied);
  const bytesMin = entryBytesMin(asked.infoClass);
  if (bytesMin === undefined) return errorResponse(Status.invalidInfoClass);
  if (asked.outputBytesMax < bytesMin) return errorResponse(Status.infoLengthMismatch);
  return list(request, handle, asked);
}

async function list(
  request: TreeRequest,
  handle: FileHandle,
  asked: QueryDirectoryRequest,
): Promise<SmbResponse> {
  const listing = listingOf(handle, asked);
  const buffer = new EntryBuffer(asked, request.tree.shareId);
  for (let page = 0; page < pagesMax && !listing.isFinished && !buffer.isFull; page += 1) {
    const { reference, id } = handle;
    const limit = isPattern(listing.pattern) ? pageEntries : 1;
    const wanted = { reference, handle: id.persistent, from: listing.from, limit };
    const outcome = await listDirectory(request.connection.server.world.runtime, wanted);
    if (outcome.kind === "fault") return errorResponse(statusOf(outcome.fault));
    const { entries, directory } = outcome.value;
    showDots(listing, buffer, directory);
    for (const { folded, node } of entries) {
      if (buffer.isFull) break;
      const named = { name: node.name, node };
      if (!matches(listing.pattern, node.name) || buffer.add(named)) {
        // Continue with the next key after this name.
        listing.from = `${folded}\0`;
      }
    }
    if (limit === 1 || (!buffer.isFull && entries.length < limit)) listing.isFinished = true;
  }
  if (buffer.count === 0) {
    if (!listing.isFinished) return errorResponse(Status.infoLengthMismatch);
    return errorResponse(listing.hasShown ? Status.noMoreFiles : Status.noSuchFile);
  }
  listing.hasShown = true;
  return newResponse(encodeDataResponse(buffer.finish()));
}

function listingOf(handle: FileHandle, { flags, pattern }: QueryDirectoryRequest): Listing {
  const isNew = (flags & DirectoryFlag.reopen) !== 0 || handle.listing === undefined;
  const restarts = (flags & DirectoryFlag.restart) !== 0;
  if (isNew || restarts) {
    const wanted = pattern === "" ? (handle.listing?.pattern ?? "*") : pattern;
    handle.listing = newListing(wanted);
    // A pattern without wildcards is read by its key instead of scanning the directory.
    if (!isPattern(wanted)) handle.listing.from = foldName(wanted);
  }
  return handle.listing ?? newListing("*");
}

/** Adds `.` and `..`, which come first, if the pattern matches them. */
function showDots(listing: Listing, buffer: EntryBuffer, directory: NodeRecord): void {
  for (const [index, name] of [".", ".."].entries()) {
    if (listing.dots !== index || buffer.isFull) continue;
    if (!matches(listing.pattern, name) || buffer.add({ name, node: directory })) {
      listing.dots = index === 0 ? 1 : 2;
    }
  }
}

/** The encoded entries of one response. */
class EntryBuffer {
  readonly #parts: Buffer[] = [];
  readonly #asked: QueryDirectoryRequest;
  readonly #share: bigint;
  #length = 0;
  isFull = false;

  constructor(asked: QueryDirectoryRequest, share: bigint) {
    this.#asked = asked;
    this.#share = share;
  }

  get count(): number {
    return this.#parts.length;
  }

  /** False if the entry does not fit; then no further entry is added. */
  add(named: NamedNode): boolean {
    const entry = encodeEntry(this.#asked.infoClass, named, this.#share);
    const start = Math.ceil(this.#length / alignment) * alignment;
    if (start + entry.length > this.#asked.outputBytesMax) {
      this.isFull = true;
      return false;
    }
    this.#parts.push(entry);
    this.#length = start + entry.length;
    if ((this.#asked.flags & DirectoryFlag.single) !== 0) this.isFull = true;
    return true;
  }

  finish(): Buffer {
    const data = Buffer.alloc(this.#length);
    let at = 0;
    for (const [index, part] of this.#parts.entries()) {
      part.copy(data, at);
      const next = Math.ceil((at + part.length) / alignment) * alignment;
      if (index < this.#parts.length - 1) data.writeUInt32LE(next - at, at);
      at = next;
    }
    return data;
  }
}
