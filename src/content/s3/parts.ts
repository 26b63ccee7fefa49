import type { Bucket } from "./bucket.ts";

/** Names and listings of the objects that are the parts of extents. The offset and the length of a
 *  part are in its name, so that one listing suffices to find all bytes of an extent. */

/** A range of an extent (stored bytes of many contents) that is one object in the bucket. */
export interface Part {
  readonly offset: number;
  readonly length: number;
}

/** Limit of the length of a part: a listing for an offset begins this far before it. Large enough
 *  that requests cost little, small enough to buffer several. */
export const partBytesMax = 4 * 1024 * 1024;
/** Hexadecimal digits in the name of a part, of a fixed number so that names sort by offset. */
const offsetDigits = 10;
const lengthDigits = 7;
/** The most that S3 returns in one page. */
const pageKeysMax = 1000;
/** Bounds a listing; an extent has far fewer parts. */
const pagesMax = 1_000;
const removalsAtOnce = 16;
const extentsFolder = "extents/";

function folderOf(extent: bigint): string {
  return `${extentsFolder}${extent.toString(16).padStart(16, "0")}/`;
}

/** The next extents after `after` that have objects, up to 1,000: for the search for extents
 *  without a record. */
export async function listExtentFolders(
  bucket: Bucket,
  prefix: string,
  after: bigint,
): Promise<readonly bigint[]> {
  const folder = prefix + extentsFolder;
  // Sorts after everything in the folder of `after`, so that whole folders follow.
  const startAfter = `${prefix}${folderOf(after).slice(0, -1)}0`;
  const page = await listPage(bucket, {
    prefix: folder,
    delimiter: "/",
    "start-after": startAfter,
  });
  const names = page.matchAll(/\/([0-9a-f]{16})\/<\/Prefix>/g);
  return [...names].map(([, name = ""]) => BigInt(`0x${name}`)).filter((each) => each > after);
}

/** Requests one page of the bucket's listing (ListObjectsV2), as XML. */
async function listPage(
  bucket: Bucket,
  selection: Readonly<Record<string, string>>,
): Promise<string> {
  const query = { "list-type": "2", "max-keys": String(pageKeysMax), ...selection };
  const { body } = await bucket.send({ method: "GET", query }, [200]);
  return body.toString("utf8");
}

/** Object key of a part; keys sort by offset. Example:
 *  `extents/0000000100000000/0000010000-0001000`. */
export function partKey(extent: bigint, { offset, length }: Part): string {
  const hex = (count: number, digits: number): string => count.toString(16).padStart(digits, "0");
  return `${folderOf(extent)}${hex(offset, offsetDigits)}-${hex(length, lengthDigits)}`;
}

interface ListOptions {
  readonly from: number;
  /** Offset at which the list ends, exclusive. */
  readonly to: number;
}

/** Lists the parts of an extent with an offset in `[from, to)`, in order. */
export async function listParts(
  bucket: Bucket,
  prefix: string,
  extent: bigint,
  { from, to }: ListOptions,
): Promise<readonly Part[]> {
  const folder = prefix + folderOf(extent);
  const parts: Part[] = [];
  let after = folder + Math.max(0, from).toString(16).padStart(offsetDigits, "0");
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await listPage(bucket, { prefix: folder, "start-after": after });
    // The prefix may contain XML entities; the last segment of a key consists of hexadecimal
    // digits.
    const names = [...page.matchAll(/<Key>[^<]*\/([^</]*)<\/Key>/g)].map(([, name = ""]) => name);
    const found = names.map(parsePart);
    parts.push(...found.filter(({ offset }) => offset < to));
    const last = found.at(-1);
    if (last === undefined || names.length < pageKeysMax || last.offset >= to) return parts;
    after = folder + (names.at(-1) ?? "");
  }
  throw new Error(`extent ${extent} has more than ${pagesMax * pageKeysMax} parts`);
}

function parsePart(name: string): Part {
  const [offset, length] = name.split("-");
  const part = { offset: parseInt(offset ?? "", 16), length: parseInt(length ?? "", 16) };
  if (!Number.isSafeInteger(part.offset) || !Number.isSafeInteger(part.length)) {
    throw new Error(`unexpected object ${name} among the parts of an extent`);
  }
  return part;
}

export async function removeParts(
  bucket: Bucket,
  extent: bigint,
  parts: readonly Part[],
): Promise<void> {
  for (let from = 0; from < parts.length; from += removalsAtOnce) {
    const some = parts.slice(from, from + removalsAtOnce);
    await Promise.all(
      some.map((part) =>
        bucket.send({ method: "DELETE", key: partKey(extent, part) }, [200, 204, 404]),
      ),
    );
  }
}
