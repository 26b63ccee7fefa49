import type { ContentRef, Slice } from "../content-ref.ts";
import type { Key } from "../../store/store.ts";
import type { Node } from "../node.ts";
import { bytesByExtent, endOf } from "../slices.ts";
import { nodeOwnerKey, ownerDigest, recordOwnerKey } from "../tables.ts";

/** What an extent must have, as far as those who refer to it say. */
export interface HeldExtent {
  liveBytes: number;
  /** How many entries of the index of owners there must be. */
  owners: number;
  /** Where the last byte that anyone refers to ends. */
  end: number;
}

/** What all records and nodes hold together, gathered to be compared with what is written down. */
export class ExpectedContent {
  /** By node: how many records, parents and pieces of garbage refer to it. */
  readonly references = new Map<bigint, number>();
  readonly extents = new Map<bigint, HeldExtent>();

  refer(node: bigint): void {
    this.references.set(node, (this.references.get(node) ?? 0) + 1);
  }

  /** Returns the entries that the index of owners must have for the record. */
  holdRecord(key: Key, ref: ContentRef): readonly Key[] {
    if (ref.kind === "tree") this.refer(ref.root);
    if (ref.kind !== "slices") return [];
    const digest = ownerDigest(key);
    return this.#holdSlices(ref.slices).map((extent) => recordOwnerKey(extent, digest));
  }

  /** The same for a node. */
  holdNode(id: bigint, node: Node): readonly Key[] {
    if (node.kind === "inner") {
      for (const child of node.children) this.refer(child.id);
      return [];
    }
    return this.#holdSlices(node.slices).map((extent) => nodeOwnerKey(extent, id));
  }

  #holdSlices(slices: readonly Slice[]): readonly bigint[] {
    for (const { source, length } of slices) {
      if (!("extent" in source)) continue;
      const held = this.#extent(source.extent);
      held.end = Math.max(held.end, source.offset + length);
    }
    const bytes = bytesByExtent(slices);
    for (const [extent, count] of bytes) {
      const held = this.#extent(extent);
      held.liveBytes += count;
      held.owners += 1;
    }
    return [...bytes.keys()];
  }

  #extent(id: bigint): HeldExtent {
    const known = this.extents.get(id);
    if (known !== undefined) return known;
    const fresh = { liveBytes: 0, owners: 0, end: 0 };
    this.extents.set(id, fresh);
    return fresh;
  }
}

/** What is wrong with the form of a content, if anything. */
export function malformed(ref: ContentRef): string | undefined {
  if (ref.kind === "inline") {
    return ref.bytes.length === ref.length ? undefined : "its bytes have another length";
  }
  return ref.kind === "slices" ? malformedSlices(ref.slices, ref.length) : undefined;
}

export function malformedSlices(slices: readonly Slice[], length: number): string | undefined {
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
