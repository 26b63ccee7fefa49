import type { ContentRef, Slice } from "../content-ref.ts";
import type { RecordCodec } from "../../encoding/record.ts";
import type { Key, Value, View } from "../../store/store.ts";
import type { ExtentFiles } from "../extent-files.ts";
import { decodeNode } from "../node-codec.ts";
import {
  allGarbage,
  countCodec,
  garbageCodec,
  leadingId,
  nodeKey,
  wholeTables,
} from "../tables.ts";
import { auditExtents } from "./audit-extents.ts";
import { ExpectedContent, malformed, malformedSlices } from "./expected-content.ts";
import { StoredBytes } from "./stored-bytes.ts";

export interface ContentAuditOptions {
  /** One state of the store, which stays readable, with all its extents, until the end. */
  readonly view: View;
  readonly files: ExtentFiles;
  /** Extents whose files were there before the view was opened. */
  readonly filesBefore: ReadonlySet<bigint>;
  readonly complain: (problem: string) => void;
}

export interface ContentFigures {
  readonly nodes: number;
  readonly extents: number;
  readonly bytesRead: number;
  readonly bytesWithChecksum: number;
}

/**
 * Holds contents against what is written down about them: every reference has its node and its
 * bytes, every count is the count of references, and nothing is kept that nobody refers to. First
 * comes `begin`, then each record with a content, then `finish`.
 */
export class ContentAudit {
  readonly #options: ContentAuditOptions;
  readonly #held = new ExpectedContent();
  readonly #bytes: StoredBytes;
  /** Waiting to be deleted; what they refer to belongs to their successors. */
  readonly #replaced = new Set<bigint>();
  readonly #dying = new Set<bigint>();
  #nodes = 0;

  constructor(options: ContentAuditOptions) {
    this.#options = options;
    this.#bytes = new StoredBytes(options.files);
  }

  async begin(): Promise<void> {
    for await (const entries of this.#options.view.range(allGarbage())) {
      for (const { value } of entries) {
        const garbage = this.#decode("a piece of garbage", value, garbageCodec);
        for (const node of garbage?.nodes ?? []) this.#replaced.add(node);
        for (const tree of garbage?.trees ?? []) this.#held.refer(tree);
        for (const extent of garbage?.extents ?? []) this.#dying.add(extent);
      }
    }
  }

  async addRecord(name: string, key: Key, ref: ContentRef): Promise<void> {
    const wrong = malformed(ref);
    if (wrong !== undefined) this.#options.complain(`${name}: ${wrong}`);
    await this.#expectOwners(name, this.#held.holdRecord(key, ref));
    if (ref.kind === "slices") await this.#readAll(name, ref.slices);
  }

  async finish(): Promise<ContentFigures> {
    await this.#auditNodes();
    await this.#auditCounts();
    const { view, files, filesBefore, complain } = this.#options;
    const { extents } = this.#held;
    const dying = this.#dying;
    const count = await auditExtents({ view, files, filesBefore, complain, held: extents, dying });
    await this.#bytes.close();
    const { bytesRead, bytesWithChecksum } = this.#bytes;
    return { nodes: this.#nodes, extents: count, bytesRead, bytesWithChecksum };
  }

  async #auditNodes(): Promise<void> {
    const { view, complain } = this.#options;
    for await (const entries of view.range(wholeTables.nodes)) {
      for (const { key, value } of entries) {
        const id = leadingId(key);
        this.#nodes += 1;
        if (!this.#replaced.has(id)) await this.#auditNode(id, value);
      }
    }
    for await (const entries of view.range(wholeTables.nodes)) {
      for (const { key } of entries) {
        const id = leadingId(key);
        if (this.#replaced.has(id) || this.#held.references.has(id)) continue;
        complain(`content node ${id} is kept, but nobody refers to it`);
      }
    }
  }

  async #auditNode(id: bigint, value: Value): Promise<void> {
    const { complain } = this.#options;
    const name = `content node ${id}`;
    try {
      const node = decodeNode(value);
      await this.#expectOwners(name, this.#held.holdNode(id, node));
      if (node.kind === "inner") return;
      const wrong = malformedSlices(node.slices, Infinity);
      if (wrong !== undefined) complain(`${name}: ${wrong}`);
      await this.#readAll(name, node.slices);
    } catch (error) {
      complain(`${name} cannot be read: ${String(error)}`);
    }
  }

  /** Absent means one, so only shared nodes have an entry. */
  async #auditCounts(): Promise<void> {
    const { view, complain } = this.#options;
    const stored = new Map<bigint, number>();
    for await (const entries of view.range(wholeTables.counts)) {
      for (const { key, value } of entries) {
        const id = leadingId(key);
        const count = this.#decode(`the count of content node ${id}`, value, countCodec);
        if (count !== undefined) stored.set(id, count.references);
      }
    }
    for (const [id, references] of this.#held.references) {
      if ((await view.get(nodeKey(id))) === undefined) {
        complain(`content node ${id} is missing, but ${references} refer to it`);
      }
      const count = stored.get(id) ?? 1;
      stored.delete(id);
      if (count !== references) {
        complain(`content node ${id} counts ${count} references, but has ${references}`);
      }
    }
    for (const id of stored.keys()) complain(`the count of content node ${id} is left over`);
  }

  #decode<R>(name: string, value: Value, codec: RecordCodec<R>): R | undefined {
    try {
      return codec.decode(value);
    } catch (error) {
      this.#options.complain(`${name} cannot be read: ${String(error)}`);
      return undefined;
    }
  }

  async #expectOwners(name: string, keys: readonly Key[]): Promise<void> {
    const { view, complain } = this.#options;
    for (const key of keys) {
      if ((await view.get(key)) !== undefined) continue;
      complain(`${name} refers to extent ${leadingId(key).toString(16)}, but is not in its index`);
    }
  }

  /** One complaint for each owner: a lost extent has thousands of slices. */
  async #readAll(name: string, slices: readonly Slice[]): Promise<void> {
    const [first, ...more] = await this.#bytes.problemsOf(slices);
    if (first === undefined) return;
    const others = more.length === 0 ? "" : ` (and ${more.length} slices more)`;
    this.#options.complain(`${name}: ${first}${others}`);
  }
}
