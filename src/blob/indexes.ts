import type { KeyPart } from "../encoding/keys.ts";
import {
  anyTable,
  defineIndex,
  type AnyTable,
  type IndexEntry,
  recordCodec,
} from "../encoding/table.ts";
import type { BlobRecord } from "./records.ts";

/** Index tables whose entries are derived from container and blob records: searches by tags,
 *  lookups by id and protection of containers read them. `operation/apply.ts` updates them with
 *  every write of a record. */

export interface TagKey {
  readonly container: bigint;
  readonly tag: string;
  readonly value: string;
  readonly name: string;
}

export type EmptyRecord = Readonly<Record<string, never>>;
const emptyRecord: EmptyRecord = {};

/** Tag index by container, for searches in one container. */
export const containerTags = defineIndex<TagKey, EmptyRecord>({
  name: "container-tags",
  tag: 0x27,
  key: ({ container, tag, value, name }) => [container, tag, value, name],
  codec: recordCodec<EmptyRecord>({ version: 1 }),
});

/** Tag index over all containers, for searches in an account. Keys begin with the tag, not with an
 *  account, so a search skips containers of other accounts. */
export const allTags = defineIndex<TagKey, EmptyRecord>({
  name: "all-tags",
  tag: 0x28,
  key: ({ container, tag, value, name }) => [tag, value, container, name],
  codec: recordCodec<EmptyRecord>({ version: 1 }),
});

export interface ContainerName {
  readonly account: bigint;
  readonly name: string;
}

/** Current account and name of a container by its id. A deleted container has no entry, so a search
 *  by tags does not find its blobs. */
export const containerNames = defineIndex<{ id: bigint; name: string }, ContainerName>({
  name: "container-names",
  tag: 0x29,
  key: ({ id, name }) => [id, name],
  codec: recordCodec<ContainerName>({ version: 1 }),
});

interface DirectoryName {
  readonly parent: bigint;
  readonly name: string;
}

/** Parent directory and name of each directory of a hierarchical account, by its id. A blob is
 *  keyed by the id of its directory; its path is found here (`tree/find-path.ts`). */
export const directoryNames = defineIndex<{ id: bigint }, DirectoryName>({
  name: "directory-names",
  tag: 0x2b,
  key: ({ id }) => [id],
  codec: recordCodec<DirectoryName>({ version: 1 }),
});

/** What forbids the deletion of one blob: a legal hold, or an immutability policy until `until`. */
interface Hold {
  readonly legalHold: boolean;
  readonly until?: bigint | undefined;
}

/** Legal holds and immutability policies of the blobs in a container, for which the container
 *  cannot be deleted. `below` is the rest of the blob's key after the container. */
export const holds = defineIndex<{ container: bigint; below: readonly KeyPart[] }, Hold>({
  name: "holds",
  tag: 0x2a,
  key: ({ container, below }) => [container, ...below],
  codec: recordCodec<Hold>({ version: 1 }),
});

export const indexTables: readonly AnyTable[] = [
  anyTable(containerTags),
  anyTable(allTags),
  anyTable(containerNames),
  anyTable(directoryNames),
  anyTable(holds),
];

const encodedEmpty = containerTags.codec.encode(emptyRecord);
const noEntries: readonly IndexEntry[] = [];

/** The entries of a blob in both tag indexes; `parts` returns the key of the blob. */
export function tagEntries(
  { tags }: BlobRecord,
  parts: () => readonly KeyPart[],
): readonly IndexEntry[] {
  if (tags === undefined) return noEntries;
  const [container, name] = parts() as [bigint, string];
  return Object.entries(tags).flatMap(([tag, value]) => {
    const key = { container, tag, value, name };
    return [
      { key: containerTags.key(key), value: encodedEmpty },
      { key: allTags.key(key), value: encodedEmpty },
    ];
  });
}

export function directoryNameEntries(
  { directory: id }: BlobRecord,
  parts: () => readonly KeyPart[],
): readonly IndexEntry[] {
  if (id === undefined) return noEntries;
  const [parent, name] = parts() as [bigint, string];
  const value = directoryNames.codec.encode({ parent, name });
  return [{ key: directoryNames.key({ id }), value }];
}

export function containerNameEntries(
  id: bigint,
  [account, name]: readonly KeyPart[],
): readonly IndexEntry[] {
  const record = { account: account as bigint, name: name as string };
  const key = containerNames.key({ id, name: record.name });
  return [{ key, value: containerNames.codec.encode(record) }];
}

export function holdEntries(
  { legalHold, immutability }: BlobRecord,
  parts: () => readonly KeyPart[],
): readonly IndexEntry[] {
  if (legalHold !== true && immutability === undefined) return noEntries;
  const [container, ...below] = parts();
  const key = holds.key({ container: container as bigint, below });
  const hold = { legalHold: legalHold === true, until: immutability?.until };
  return [{ key, value: holds.codec.encode(hold) }];
}
