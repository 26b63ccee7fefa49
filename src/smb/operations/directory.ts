import { foldName } from "../../file/share-tree.ts";
import { listDirectory } from "../../file/filesystem/info.ts";
import type { NodeRecord } from "../../file/records.ts";
import { newResponse, type CommandResult, exceedsLimits, type TreeRequest } from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has, requestOn, type FileHandle, findFile } from "../files/file-handle.ts";
import {
  encodeEntry,
  entryBytesMin,
  newListing,
  type Listing,
  type NamedNode,
} from "../files/information-classes.ts";
import { Status, statusOf } from "../status.ts";
import {
  decodeQueryDirectory,
  DirectoryFlag,
  encodeDataResponse,
  type QueryDirectoryRequest,
  decodeChangeNotify,
} from "../wire/io.ts";
import { Writer } from "../wire/buffers.ts";
import { DirectoryWatch, type NotifyResult } from "../files/directory-watch.ts";

/** QUERY_DIRECTORY lists the entries of a directory that match a pattern, and CHANGE_NOTIFY reports
 *  its changes. The matching of names with patterns comes first in this file. */

/** The wildcards of DOS besides `*` and `?` ([MS-FSA] 2.1.4.4). */
const dosStar = "<";
const dosQuestion = ">";
const dosDot = '"';
/** Most steps of comparing a name with a pattern, to bound its time; beyond it they differ. */
const stepsMax = 100_000;

function isPattern(text: string): boolean {
  return /[*?<>"]/.test(text);
}

export function matches(pattern: string, name: string): boolean {
  if (pattern === "*" || pattern === "*.*") return true;
  const matcher = new Matcher(foldName(pattern), foldName(name));
  return matcher.matchesFrom(0, 0);
}

class Matcher {
  readonly #pattern: string;
  readonly #name: string;
  readonly #lastDot: number;
  readonly #failed = new Set<number>();
  #steps = 0;

  constructor(pattern: string, name: string) {
    this.#pattern = pattern;
    this.#name = name;
    this.#lastDot = name.lastIndexOf(".");
  }

  /** Whether the rest of the pattern matches the rest of the name. Remembers pairs of positions
   *  that do not match, so that n stars cost O(pattern × name), not O(nameⁿ). */
  matchesFrom(patternIndex: number, nameIndex: number): boolean {
    const position = patternIndex * (this.#name.length + 1) + nameIndex;
    this.#steps += 1;
    if (this.#failed.has(position) || this.#steps > stepsMax) return false;
    const isMatch = this.#step(patternIndex, nameIndex);
    if (!isMatch) this.#failed.add(position);
    return isMatch;
  }

  #step(patternIndex: number, nameIndex: number): boolean {
    const sign = this.#pattern[patternIndex];
    const isEnd = nameIndex >= this.#name.length;
    switch (sign) {
      case undefined:
        return isEnd;
      case "*":
      case dosStar: {
        const isFinalDot = this.#name[nameIndex] === "." && nameIndex === this.#lastDot;
        const mayConsume = !isEnd && (sign === "*" || !isFinalDot);
        return (
          this.matchesFrom(patternIndex + 1, nameIndex) ||
          (mayConsume && this.matchesFrom(patternIndex, nameIndex + 1))
        );
      }
      case "?":
        return !isEnd && this.matchesFrom(patternIndex + 1, nameIndex + 1);
      case dosQuestion:
        if (isEnd || this.#name[nameIndex] === ".")
          return this.matchesFrom(patternIndex + 1, nameIndex);
        return this.matchesFrom(patternIndex + 1, nameIndex + 1);
      case dosDot:
        if (isEnd) return this.matchesFrom(patternIndex + 1, nameIndex);
        return this.#name[nameIndex] === "." && this.matchesFrom(patternIndex + 1, nameIndex + 1);
      default:
        return (
          !isEnd &&
          this.#name[nameIndex] === sign &&
          this.matchesFrom(patternIndex + 1, nameIndex + 1)
        );
    }
  }
}

/** Names that one transaction reads; a request runs several while its response has room. */
const pageEntries = 500;
const pagesMax = 10_000;
const alignment = 8;

/** QUERY_DIRECTORY: lists entries that match a pattern, from where the last request ended. */
export async function queryDirectory(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeQueryDirectory(request.message);
  if (decoded === undefined || exceedsLimits(request, decoded.outputBytesMax)) {
    return Status.invalidParameter;
  }
  const handle = findFile(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  if (!handle.isDirectory) return Status.invalidParameter;
  if (!has(handle.access, Right.readData)) return Status.accessDenied;
  const bytesMin = entryBytesMin(decoded.infoClass);
  if (bytesMin === undefined) return Status.invalidInfoClass;
  if (decoded.outputBytesMax < bytesMin) return Status.infoLengthMismatch;
  return list(request, handle, decoded);
}

async function list(
  request: TreeRequest,
  handle: FileHandle,
  decoded: QueryDirectoryRequest,
): Promise<CommandResult> {
  const listing = listingOf(handle, decoded);
  const buffer = new EntryBuffer(decoded, request.tree.share.id);
  for (let page = 0; page < pagesMax && !listing.isFinished && !buffer.isFull; page += 1) {
    const limit = isPattern(listing.pattern) ? pageEntries : 1;
    const wanted = { ...requestOn(handle), from: listing.from, limit };
    const outcome = await listDirectory(request.connection.server.world.runtime, wanted);
    if (outcome.kind === "fault") return statusOf(outcome.fault);
    const { entries, directory } = outcome.value;
    showDots(listing, buffer, directory);
    for (const { folded, node } of entries) {
      if (buffer.isFull) break;
      const named = { name: node.name, node };
      if (!matches(listing.pattern, node.name) || buffer.add(named)) {
        // The next call continues with the key after this name.
        listing.from = `${folded}\0`;
      }
    }
    if (limit === 1 || (!buffer.isFull && entries.length < limit)) listing.isFinished = true;
  }
  if (buffer.isEmpty) {
    if (!listing.isFinished) return Status.infoLengthMismatch;
    return listing.hasShown ? Status.noMoreFiles : Status.noSuchFile;
  }
  listing.hasShown = true;
  return newResponse(encodeDataResponse(buffer.finish()));
}

/** The listing that a request continues, or a new one if it is the first or restarts. */
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
  readonly #writer = new Writer();
  readonly #decoded: QueryDirectoryRequest;
  readonly #share: bigint;
  /** Offset of the last entry, which begins with the distance to the next one. */
  #last = 0;
  isFull = false;

  constructor(decoded: QueryDirectoryRequest, share: bigint) {
    this.#decoded = decoded;
    this.#share = share;
  }

  get isEmpty(): boolean {
    return this.#writer.length === 0;
  }

  /** Adds an entry; false if it does not fit, after which no further one is added. */
  add(named: NamedNode): boolean {
    const entry = encodeEntry(this.#decoded.infoClass, named, this.#share);
    const start = Math.ceil(this.#writer.length / alignment) * alignment;
    if (start + entry.length > this.#decoded.outputBytesMax) {
      this.isFull = true;
      return false;
    }
    if (!this.isEmpty) this.#writer.align(alignment).setU32(this.#last, start - this.#last);
    this.#writer.bytes(entry);
    this.#last = start;
    if ((this.#decoded.flags & DirectoryFlag.single) !== 0) this.isFull = true;
    return true;
  }

  finish(): Buffer {
    return this.#writer.finish();
  }
}

/** CHANGE_NOTIFY: waits until a directory changes, and responds with the changes. */
export async function changeNotify(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeChangeNotify(request.message);
  if (decoded === undefined || exceedsLimits(request, decoded.outputBytesMax)) {
    return Status.invalidParameter;
  }
  const handle = findFile(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  if (!handle.isDirectory) return Status.invalidParameter;
  if (!has(handle.access, Right.readData)) return Status.accessDenied;
  const { changeDispatcher: changes } = request.connection.server;
  handle.watch ??= new DirectoryWatch(
    { directory: handle.reference.file, filter: decoded.filter, watchesTree: decoded.watchesTree },
    (watch) => changes.subscribe(request.tree.share.id, watch),
  );
  await changes.whenSubscribed(request.tree.share.id);
  const { status, data } = await next(request, handle.watch, decoded.outputBytesMax);
  const isAnswered = status === Status.success || status === Status.notifyEnumDirectory;
  return isAnswered ? newResponse(encodeDataResponse(data), status) : status;
}

/** Resolves with the next changes of a watched directory, or when the request is cancelled. Sends
 *  an interim response if there are no changes yet. */
function next(
  { lifetime }: TreeRequest,
  watch: DirectoryWatch,
  bytesMax: number,
): Promise<NotifyResult> {
  const nothing = Buffer.alloc(0);
  return new Promise((resolve) => {
    let isFinished = false;
    const removeRequest = watch.addRequest(bytesMax, (result) => {
      isFinished = true;
      resolve(result);
    });
    if (isFinished) return;
    const status = lifetime.goAsync();
    if (status !== undefined) {
      removeRequest();
      resolve({ status, data: nothing });
      return;
    }
    lifetime.onCancel(() => {
      removeRequest();
      resolve({ status: Status.cancelled, data: nothing });
    });
  });
}
