import type { Random } from "../../base/world.ts";
import {
  blobs,
  generations,
  type BlobKey,
  type BlobRecord,
  type ContainerRecord,
} from "../../blob/records.ts";
import { createParents, hasFolderMark, withFolderMark } from "../../blob/tree/create-parents.ts";
import { findPath, splitPath } from "../../blob/tree/find-path.ts";
import type { ContentPlan } from "../../content/content-ref.ts";
import { put, type Effect } from "../../operation/effects.ts";
import { newId } from "../../operation/identifiers.ts";
import type { Records } from "../../operation/records.ts";
import type { Ticks } from "../../base/ticks.ts";
import { ImportRefused } from "../../host/refused.ts";

/** Finds where a blob that `etagere import` takes over from Azurite is stored: under its name, or
 *  in a tree of directories if the account is hierarchical. */

/** Name and container of a blob to import. */
export interface BlobAddress {
  readonly container: ContainerRecord;
  readonly name: string;
  /** Time of the snapshot; undefined for the blob itself. */
  readonly snapshot: Ticks | undefined;
  readonly isHierarchical: boolean;
}

/** Where an imported blob or blob snapshot is stored, in one transaction. */
interface BlobSlot {
  readonly key: BlobKey;
  readonly before: BlobRecord | undefined;
  /** The effects that create the missing parent directories of the blob. */
  readonly parents: readonly Effect[];
  put(record: BlobRecord, content: ContentPlan): Effect;
}

/** Finds the slot of a blob. On a hierarchical account the name becomes a path. */
export async function openSlot(
  view: Records,
  address: BlobAddress,
  random: Random,
): Promise<BlobSlot> {
  const { key, parents } = address.isHierarchical
    ? await findInTree(view, address, random)
    : { key: { container: address.container.id, name: address.name }, parents: noEffects };
  const { snapshot: at } = address;
  if (at === undefined) {
    const before = await view.get(blobs, key);
    return { key, parents, before, put: (record, content) => put(blobs, key, record, content) };
  }
  const generation = { ...key, at, kind: "snapshot" as const };
  const before = await view.get(generations, generation);
  const putSnapshot = (record: BlobRecord, content: ContentPlan) =>
    put(generations, generation, record, content);
  return { key, parents, before, put: putSnapshot };
}

const noEffects: readonly Effect[] = [];

async function findInTree(
  view: Records,
  { container, name }: BlobAddress,
  random: Random,
): Promise<{ readonly key: BlobKey; readonly parents: readonly Effect[] }> {
  const { now } = view;
  const found = await findPath(view, container.id, name);
  if (splitPath(name).length === 0) throw new ImportRefused(["the name is not valid"]);
  const creation = { now, newETag: now, newId: () => newId(random), callerId: undefined };
  const created = createParents({ container, ...found }, creation);
  if (created === undefined) return { key: found.key, parents: noEffects };
  if (!created.ok) throw new ImportRefused([parentProblem]);
  const { scope, effects } = created.value;
  return { key: (scope as { readonly key: BlobKey }).key, parents: effects };
}

const advice =
  "which an account with a hierarchical namespace cannot have: import into a flat account, or " +
  "rename one of both";
const parentProblem = `a part of its name is also the name of a blob, ${advice}`;

/** Whether a blob marks a directory: it is empty, and has the folder mark of Hadoop's tools or a
 *  name that ends in a slash. */
export function isDirectoryMark({ metadata, type }: BlobRecord, name: string, length: number) {
  const isMarked = hasFolderMark(metadata) || name.endsWith("/");
  return type === "BlockBlob" && length === 0 && isMarked;
}

/** The record of a directory that a blob marks. A directory that exists already, because blobs
 *  below it were imported before, keeps its id. */
export function directoryOf(
  record: BlobRecord,
  before: BlobRecord | undefined,
  random: Random,
): BlobRecord {
  if (before !== undefined && before.directory === undefined) throw alreadyThere(before);
  const directory = before?.directory ?? newId(random);
  return { ...record, directory, metadata: withFolderMark(record.metadata) };
}

/** The refusal of a blob whose name or path is in use. */
export function alreadyThere({ directory }: BlobRecord): ImportRefused {
  return new ImportRefused([directory === undefined ? "appears twice" : nameProblem]);
}

export const nameProblem = `other names continue its name after a slash, ${advice}`;
