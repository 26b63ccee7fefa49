import type { ContentRef, Slice } from "../content-ref.ts";
import type { Entry, Key, Value, View } from "../../store/store.ts";
import { storedEndOf, type ExtentFiles } from "../extents/extent-files.ts";
import { decodeNode } from "../tree/node-codec.ts";
import {
  allGarbage,
  countCodec,
  garbageCodec,
  leadingId,
  nodeKey,
  wholeTables,
  nodeOwnerKey,
  ownerDigest,
  recordOwnerKey,
} from "../tables.ts";
import type { Node } from "../tree/node.ts";
import { bytesByExtent, endOf } from "../tree/slices.ts";
import { crcOfRange } from "../tree/copy-ranges.ts";
import { ExtentFileCache } from "../extents/extent-file-cache.ts";
import type { RecordCodec } from "../../encoding/table.ts";
import { readExtents } from "../extents/extent-table.ts";

/** Compares all stored content with the records that refer to it: `etagere check`
 *  (`commands/folder-check/`) runs `ContentAudit`, the scrubber runs `StoredBytes`. Every write
 *  adds to or subtracts from reference counts, live bytes (those of an extent in use) and the owner
 *  index (what refers to an extent), so an error shows only if everything is counted again. */

interface ContentAuditOptions {
  /** The state to check. The caller keeps its extents from garbage collection meanwhile. */
  readonly view: View;
  readonly files: ExtentFiles;
  /** Extents whose files existed before the view was opened. A file that is created later has no
   *  record in this state, so it must not be reported as left over. */
  readonly filesBefore: ReadonlySet<bigint>;
  readonly report: (problem: string) => void;
  /** Called with the number of bytes read from an extent, for the display of progress. */
  readonly onBytes?: (count: number) => void;
}

/** The numbers of examined nodes, extents and bytes, for the report of `etagere check`. */
export interface AuditFigures {
  readonly nodes: number;
  readonly extents: number;
  readonly bytesRead: number;
  readonly bytesWithChecksum: number;
}

/** Checks all content: every reference has its content node and its bytes, every count equals the
 *  number of references, and nothing without references is kept. */
export class ContentAudit {
  readonly #options: ContentAuditOptions;
  readonly #expected: ExpectedContent;
  readonly #bytes: StoredBytes;
  /** Content nodes that an edit has replaced and that garbage collection has not deleted yet. They
   *  are not counted: their children now belong to the nodes that replaced them. */
  readonly #replacedNodes = new Set<bigint>();
  readonly #removedExtents = new Set<bigint>();
  #nodes = 0;

  constructor(options: ContentAuditOptions) {
    this.#options = options;
    this.#expected = new ExpectedContent(options.files);
    this.#bytes = new StoredBytes(options.files, options.onBytes);
  }

  /** First step. Collects the garbage, which counts as referenced. Returns how many bytes the audit
   *  will read, for the display of progress: the sum of the stored counts, which may be wrong. */
  async begin(): Promise<{ readonly referencedBytes: number }> {
    for await (const entries of this.#options.view.range(allGarbage())) {
      for (const { value } of entries) {
        const garbage = this.#decode("a garbage entry", value, garbageCodec);
        for (const node of garbage?.nodes ?? []) this.#replacedNodes.add(node);
        for (const tree of garbage?.trees ?? []) this.#expected.addReference(tree);
        for (const extent of garbage?.extents ?? []) this.#removedExtents.add(extent);
      }
    }
    const { live } = await readExtents(this.#options.view, wholeTables.extents);
    return { referencedBytes: Number([...live.values()].reduce((sum, each) => sum + each, 0n)) };
  }

  /** Second step, called for each record with content. `name` names the record in reports. */
  async addRecord(name: string, key: Key, ref: ContentRef): Promise<void> {
    const wrong = findRefProblem(ref);
    if (wrong !== undefined) this.#options.report(`${name}: ${wrong}`);
    await this.#expectOwners(name, this.#expected.addRecord(key, ref));
    if (ref.kind === "slices") await this.#readAll(name, ref.slices);
  }

  /** Last step, after all records were added: compares the stored counts with what was added. */
  async finish(): Promise<AuditFigures> {
    await this.#auditNodes();
    await this.#auditCounts();
    const extents = await this.#auditExtents();
    await this.#bytes.close();
    const { bytesRead, bytesWithChecksum } = this.#bytes;
    return { nodes: this.#nodes, extents, bytesRead, bytesWithChecksum };
  }

  async #auditNodes(): Promise<void> {
    const { view, report } = this.#options;
    for await (const entries of view.range(wholeTables.nodes)) {
      for (const entry of entries) {
        const id = leadingId(entry.key);
        this.#nodes += 1;
        if (!this.#replacedNodes.has(id)) await this.#auditNode(id, entry);
      }
    }
    for await (const entries of view.range(wholeTables.nodes)) {
      for (const { key } of entries) {
        const id = leadingId(key);
        if (this.#replacedNodes.has(id) || this.#expected.references.has(id)) continue;
        report(`content node ${id} is kept, but has no references`);
      }
    }
  }

  async #auditNode(id: bigint, entry: Entry): Promise<void> {
    const { report } = this.#options;
    const name = `content node ${id}`;
    try {
      const node = decodeNode(entry.value);
      await this.#expectOwners(name, this.#expected.addNode(id, node));
      if (node.kind === "inner") return;
      const wrong = findSliceProblem(node.slices, Infinity);
      if (wrong !== undefined) report(`${name}: ${wrong}`);
      await this.#readAll(name, node.slices);
    } catch (error) {
      report(`${name} cannot be read: ${String(error)}`);
    }
  }

  /** Checks how many parents or records refer to each node. Only counts above 1 are stored. */
  async #auditCounts(): Promise<void> {
    const { view, report } = this.#options;
    const stored = new Map<bigint, number>();
    for await (const entries of view.range(wholeTables.counts)) {
      for (const { key, value } of entries) {
        const id = leadingId(key);
        const count = this.#decode(`the count of content node ${id}`, value, countCodec);
        if (count !== undefined) stored.set(id, count.references);
      }
    }
    for (const [id, references] of this.#expected.references) {
      if ((await view.get(nodeKey(id))) === undefined) {
        report(`content node ${id} is missing, but has ${references} references`);
      }
      const count = stored.get(id) ?? 1;
      stored.delete(id);
      if (count !== references) {
        report(`content node ${id} counts ${count} references, but has ${references}`);
      }
    }
    for (const id of stored.keys()) report(`the count of content node ${id} is left over`);
  }

  /** Compares the record, file and counts of each extent with the references that were found to it.
   *  Returns the number of extents. */
  async #auditExtents(): Promise<number> {
    const { view, files, filesBefore, report } = this.#options;
    const { records, live } = await readExtents(view, wholeTables.extents);
    const owners = await countOwners(view);
    for (const [extent, { sealedBytes }] of records) {
      const name = nameOf(extent);
      const wanted = this.#expected.extents.get(extent) ?? nothing;
      const counted = live.get(extent) ?? 0n;
      if (counted !== BigInt(wanted.liveBytes)) {
        report(`${name} counts ${counted} bytes in use, but ${wanted.liveBytes} are`);
      }
      const indexed = owners.get(extent) ?? 0;
      if (indexed > wanted.owners) {
        report(`${name} has ${indexed} owners in its index, but ${wanted.owners} refer to it`);
      }
      if (sealedBytes !== undefined && wanted.end > sealedBytes) {
        report(`${name} was sealed at ${sealedBytes}, but is used up to ${wanted.end}`);
      }
      const size = await files.size(extent);
      if (wanted.end > size) report(`${name} ends at ${size}, but is used up to ${wanted.end}`);
    }
    for (const extent of new Set([
      ...this.#expected.extents.keys(),
      ...live.keys(),
      ...owners.keys(),
    ])) {
      if (!records.has(extent)) report(`${nameOf(extent)} is used, but not known`);
    }
    for (const extent of filesBefore) {
      if (records.has(extent) || this.#removedExtents.has(extent)) continue;
      // Size 0 means that the file was removed after it was listed.
      if ((await files.size(extent)) > 0) report(`the file of ${nameOf(extent)} is left over`);
    }
    return records.size;
  }

  #decode<R>(name: string, value: Value, codec: RecordCodec<R>): R | undefined {
    try {
      return codec.decode(value);
    } catch (error) {
      this.#options.report(`${name} cannot be read: ${String(error)}`);
      return undefined;
    }
  }

  async #expectOwners(name: string, keys: readonly Key[]): Promise<void> {
    const { view, report } = this.#options;
    for (const key of keys) {
      if ((await view.get(key)) !== undefined) continue;
      report(`${name} refers to ${nameOf(leadingId(key))}, but is not in its index`);
    }
  }

  /** Reports one problem per owner: a lost extent may have thousands of slices. */
  async #readAll(name: string, slices: readonly Slice[]): Promise<void> {
    const [first, ...more] = await this.#bytes.problemsOf(slices);
    if (first === undefined) return;
    const others = more.length === 0 ? "" : ` (and ${more.length} slices more)`;
    this.#options.report(`${name}: ${first}${others}`);
  }
}

function nameOf(extent: bigint): string {
  return `extent ${extent.toString(16)}`;
}

/** The number of records and content nodes that the owner index names for each extent. */
async function countOwners(view: View): Promise<ReadonlyMap<bigint, number>> {
  const owners = new Map<bigint, number>();
  for await (const entries of view.range(wholeTables.owners)) {
    for (const { key } of entries) {
      const extent = leadingId(key);
      owners.set(extent, (owners.get(extent) ?? 0) + 1);
    }
  }
  return owners;
}

const nothing: ExpectedExtent = { liveBytes: 0, owners: 0, end: 0 };

/** What the stored values of an extent should be, counted from the references to it. */
interface ExpectedExtent {
  liveBytes: number;
  /** Number of records and content nodes with bytes in the extent: the owner index names each. */
  owners: number;
  /** End of the last byte in use; the file must be at least this long. */
  end: number;
}

/** Collects the references of all records and nodes, for comparison with the stored counts. */
class ExpectedContent {
  /** Number of records, parents and garbage entries that refer to a node. */
  readonly references = new Map<bigint, number>();
  readonly extents = new Map<bigint, ExpectedExtent>();
  readonly #files: ExtentFiles;

  constructor(files: ExtentFiles) {
    this.#files = files;
  }

  addReference(node: bigint): void {
    this.references.set(node, (this.references.get(node) ?? 0) + 1);
  }

  /** Adds a record. Returns the keys that the owner index must contain for it, one per extent. */
  addRecord(key: Key, ref: ContentRef): readonly Key[] {
    if (ref.kind === "tree") this.addReference(ref.root);
    if (ref.kind !== "slices") return [];
    const digest = ownerDigest(key);
    return this.#addSlices(ref.slices).map((extent) => recordOwnerKey(extent, digest));
  }

  /** Adds a content node. Returns the keys that the owner index must have for it, one per
   *  extent. */
  addNode(id: bigint, node: Node): readonly Key[] {
    if (node.kind === "inner") {
      for (const child of node.children) this.addReference(child.id);
      return [];
    }
    return this.#addSlices(node.slices).map((extent) => nodeOwnerKey(extent, id));
  }

  #addSlices(slices: readonly Slice[]): readonly bigint[] {
    for (const { source, length } of slices) {
      if (!("extent" in source)) continue;
      const expected = this.#extent(source.extent);
      expected.end = Math.max(expected.end, storedEndOf(this.#files, source.offset, length));
    }
    const bytes = bytesByExtent(slices);
    for (const [extent, count] of bytes) {
      const expected = this.#extent(extent);
      expected.liveBytes += count;
      expected.owners += 1;
    }
    return [...bytes.keys()];
  }

  #extent(id: bigint): ExpectedExtent {
    const known = this.extents.get(id);
    if (known !== undefined) return known;
    const fresh = { ...nothing };
    this.extents.set(id, fresh);
    return fresh;
  }
}

/** Describes what is wrong with the content reference of a record; `undefined` if nothing is. */
function findRefProblem(ref: ContentRef): string | undefined {
  if (ref.kind === "inline") {
    return ref.bytes.length === ref.length ? undefined : "its bytes have another length";
  }
  return ref.kind === "slices" ? findSliceProblem(ref.slices, ref.length) : undefined;
}

function findSliceProblem(slices: readonly Slice[], length: number): string | undefined {
  let end = 0;
  for (const slice of slices) {
    if (slice.length <= 0) return `an empty slice at ${slice.at}`;
    if (slice.at < end) return `slices overlap at ${slice.at}`;
    const { source } = slice;
    if ("bytes" in source && source.bytes.length !== slice.length) {
      return `the bytes at ${slice.at} have another length`;
    }
    end = endOf(slice);
  }
  return end > length ? `a slice ends at ${end}, beyond the length ${length}` : undefined;
}

/** Reads the bytes of slices (ranges of extents) and compares them with the CRC64 in each slice. */
export class StoredBytes {
  readonly #fileCache: ExtentFileCache;
  readonly #onBytes: (count: number) => void;
  /** Number of bytes that were read; `bytesWithChecksum` of them could be compared. A slice has no
   *  checksum if its writer requested none, as SMB does. */
  bytesRead = 0;
  bytesWithChecksum = 0;

  constructor(files: ExtentFiles, onBytes: (count: number) => void = () => undefined) {
    this.#fileCache = new ExtentFileCache(files);
    this.#onBytes = onBytes;
  }

  /** Describes each slice whose bytes cannot be read or differ from their checksum. */
  async problemsOf(slices: readonly Slice[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const slice of slices) {
      const problem = await this.#check(slice);
      if (problem !== undefined) problems.push(problem);
    }
    return problems;
  }

  close(): Promise<void> {
    return this.#fileCache.close();
  }

  async #check({ source, length }: Slice): Promise<string | undefined> {
    if (!("extent" in source)) return undefined;
    const { extent, offset, crc64 } = source;
    const location = `${length} bytes at ${offset} of ${nameOf(extent)}`;
    try {
      const found = await crcOfRange(this.#fileCache, extent, { offset, length });
      this.bytesRead += length;
      this.#onBytes(length);
      if (crc64 === undefined) return undefined;
      this.bytesWithChecksum += length;
      return found === crc64 ? undefined : `${location} differ from their checksum`;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return `${location} cannot be read: ${reason}`;
    }
  }
}
