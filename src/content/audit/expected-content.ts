import type { ContentRef, Slice } from "../content-ref.ts";
import type { Key } from "../../store/store.ts";
import type { Node } from "../tree/node.ts";
import { bytesByExtent, endOf } from "../tree/slices.ts";
import { nodeOwnerKey, ownerDigest, recordOwnerKey } from "../tables.ts";

/** Expected values of an extent, derived from the references to it. */
export interface ExpectedExtent {
  liveBytes: number;
  /** Expected number of entries in the owner index. */
  owners: number;
  /** End of the last byte that is referred to. */
  end: number;
}

/** Collects the references of all records and nodes, for comparison with the stored counts. */
export class ExpectedContent {
  /** Number of records, parents and garbage entries that refer to a node. */
  readonly references = new Map<bigint, number>();
  readonly extents = new Map<bigint, ExpectedExtent>();

  addReference(node: bigint): void {
    this.references.set(node, (this.references.get(node) ?? 0) + 1);
  }

  /** Adds a record and returns its expected entries in the owner index. */
  addRecord(key: Key, ref: ContentRef): readonly Key[] {
    if (ref.kind === "tree") this.addReference(ref.root);
    if (ref.kind !== "slices") return [];
    const digest = ownerDigest(key);
    return this.#addSlices(ref.slices).map((extent) => recordOwnerKey(extent, digest));
  }

  /** Adds a content node and returns its expected entries in the owner index. */
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
      expected.end = Math.max(expected.end, source.offset + length);
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
    const fresh = { liveBytes: 0, owners: 0, end: 0 };
    this.extents.set(id, fresh);
    return fresh;
  }
}

/** Describes what is wrong with a content reference; `undefined` if nothing is. */
export function findRefProblem(ref: ContentRef): string | undefined {
  if (ref.kind === "inline") {
    return ref.bytes.length === ref.length ? undefined : "its bytes have another length";
  }
  return ref.kind === "slices" ? findSliceProblem(ref.slices, ref.length) : undefined;
}

export function findSliceProblem(slices: readonly Slice[], length: number): string | undefined {
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
