import {
  blobs,
  blocks,
  containers,
  deletedContainers,
  generations,
  uploads,
} from "../../blob/records.ts";
import type { KeyPart } from "../../encoding/keys.ts";
import type { AnyTable, Table } from "../../encoding/table.ts";
import * as file from "../../file/records.ts";
import { expiries, messages, queues, visibilityIndex } from "../../queue/records.ts";
import { edm } from "../../table/edm/edm.ts";
import { entities, tables } from "../../table/records.ts";
import { entityRecord, type EntityRecord } from "../../table/stored/entity-record.ts";
import { fileTimeStart, ticksMax } from "../../base/ticks.ts";

/** What the fields of archived records may contain, which a load verifies (`refuseInvalidRecord`):
 *  codecs do not know the types of fields, and a wrong value would fail later reads. */

type Check = (value: unknown) => boolean;
/** The checks of all fields of a record: a new field does not compile before it has one. */
type Fields<R> = { readonly [K in keyof R]-?: Check };

const idMax = 2n ** 64n - 1n;
const numberMax = Number.MAX_SAFE_INTEGER;

const isText: Check = (value) => typeof value === "string";
const isHeaderText: Check = (value) =>
  typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
const isFlag: Check = (value) => value === true;
const isBoolean: Check = (value) => typeof value === "boolean";
const isId = between(0n, idMax);
const isTime = between(0n, ticksMax);
const isCount = whole(numberMax);
const isMd5 = bytes(16);
const isSha256 = bytes(32);
const isGuid: Check = (value) =>
  typeof value === "string" && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(value);

function between(from: bigint, to: bigint): Check {
  return (value) => typeof value === "bigint" && value >= from && value <= to;
}

function whole(max: number): Check {
  return (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= max;
}

function bytes(length: number): Check {
  return (value) => value instanceof Uint8Array && value.length === length;
}

function oneOf(...words: readonly string[]): Check {
  return (value) => typeof value === "string" && words.includes(value);
}

function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function list(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

function tuple(...checks: readonly Check[]): Check {
  return (value) =>
    Array.isArray(value) &&
    value.length === checks.length &&
    checks.every((check, at) => check(value[at]));
}

/** Returns a check that accepts an object with these fields and no other. */
function object(fields: Readonly<Record<string, Check>>): Check {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const record = value as Readonly<Record<string, unknown>>;
    const isKnown = Object.keys(record).every((name) => Object.hasOwn(fields, name));
    return isKnown && Object.entries(fields).every(([name, check]) => check(record[name]));
  };
}

const isMetadata = list(tuple(isHeaderText, isHeaderText));
const isTags: Check = (value) =>
  typeof value === "object" && value !== null && Object.entries(value).flat().every(isText);
const isLease = object({
  id: isGuid,
  durationSeconds: (value) => value === -1 || isCount(value),
  expiresAt: optional(isTime),
  breaksAt: optional(isTime),
});
const isPolicies = list(
  object({
    id: isText,
    start: optional(isTime),
    expiry: optional(isTime),
    permission: optional(isText),
  }),
);
const isHeaders = object({
  contentType: optional(isHeaderText),
  contentEncoding: optional(isHeaderText),
  contentLanguage: optional(isHeaderText),
  contentMd5: optional(isMd5),
  cacheControl: optional(isHeaderText),
  contentDisposition: optional(isHeaderText),
});
/** Checks content in a record: it may contain its bytes, but must not refer to stored ones, which
 *  would be bytes of other records of the target. Longer content follows the record. */
const isContent: Check = (value) =>
  value === undefined ||
  (object({ kind: oneOf("inline"), length: isCount, bytes: isBytes })(value) &&
    (value as { length: number; bytes: Uint8Array }).bytes.length ===
      (value as { length: number }).length);

function isBytes(value: unknown): boolean {
  return value instanceof Uint8Array;
}

type RecordOf<T> = T extends Table<infer _, infer R> ? R : never;

const containerFields: Fields<RecordOf<typeof containers>> = {
  id: isId,
  etag: isTime,
  lease: optional(isLease),
  metadata: isMetadata,
  publicAccess: optional(oneOf("container", "blob")),
  policies: isPolicies,
  defaultEncryptionScope: optional(isHeaderText),
  denyEncryptionScopeOverride: optional(isBoolean),
};

const blobFields: Fields<RecordOf<typeof blobs>> = {
  etag: isTime,
  created: isTime,
  type: oneOf("BlockBlob", "AppendBlob", "PageBlob"),
  content: isContent,
  headers: isHeaders,
  metadata: isMetadata,
  lease: optional(isLease),
  tags: optional(isTags),
  tier: optional(isHeaderText),
  tierChanged: optional(isTime),
  versionId: optional(isTime),
  superseded: optional(isFlag),
  snapshot: optional(isTime),
  deleted: optional(object({ at: isTime, retentionDays: isCount })),
  sequenceNumber: optional(between(0n, ticksMax)),
  lineage: optional(isTime),
  cleared: optional(list(tuple(isCount, isCount, isTime))),
  committedBlockCount: optional(isCount),
  sealed: optional(isFlag),
  copy: optional(
    object({
      id: isHeaderText,
      source: isHeaderText,
      status: oneOf("pending", "success", "aborted", "failed"),
      copiedBytes: isCount,
      totalBytes: isCount,
      completed: optional(isTime),
      description: optional(isHeaderText),
      destinationSnapshot: optional(isTime),
    }),
  ),
  incrementalCopy: optional(isFlag),
  expiresAt: optional(isTime),
  encryptionScope: optional(isHeaderText),
  keySha256: optional(isSha256),
  rehydration: optional(
    object({ to: isHeaderText, due: isTime, priority: oneOf("High", "Standard") }),
  ),
  immutability: optional(object({ until: isTime, mode: oneOf("unlocked", "locked") })),
  legalHold: optional(isBoolean),
  lastAccess: optional(isTime),
  directory: optional(isId),
  posix: optional(
    object({
      owner: isHeaderText,
      group: isHeaderText,
      mode: whole(0o1777),
      acl: optional(isHeaderText),
    }),
  ),
  encryptionContext: optional(isHeaderText),
  writtenBy: optional(oneOf("dfs")),
  transactionId: optional(isHeaderText),
};

const isCipher = object({ nonce: isId, at: isCount });
const uploadFields: Fields<RecordOf<typeof uploads>> = {
  id: isId,
  blockIdLength: isCount,
  touched: isTime,
  inline: optional(
    list(
      object({
        id: isText,
        position: isCount,
        source: object({ bytes: isBytes, cipher: optional(isCipher) }),
      }),
    ),
  ),
  hasBlocks: optional(isFlag),
  lease: optional(isLease),
};

const blockFields: Fields<RecordOf<typeof blocks>> = {
  content: isContent,
  keySha256: optional(isSha256),
  encryptionScope: optional(isHeaderText),
  position: optional(isCount),
};

const queueFields: Fields<RecordOf<typeof queues>> = {
  id: isId,
  metadata: isMetadata,
  policies: isPolicies,
};

const messageFields: Fields<RecordOf<typeof messages>> = {
  inserted: isTime,
  expires: isTime,
  visibleAt: isTime,
  dequeueCount: isCount,
  updateCount: isCount,
  text: isText,
};

const tableFields: Fields<RecordOf<typeof tables>> = {
  id: isId,
  name: isText,
  policies: isPolicies,
  isBeingDeleted: optional(isFlag),
};

const shareFields: Fields<RecordOf<typeof file.shares>> = {
  id: isId,
  etag: isTime,
  lease: optional(isLease),
  metadata: isMetadata,
  policies: isPolicies,
  quotaGib: isCount,
  settings: object({
    tier: optional(isHeaderText),
    tierChanged: optional(isTime),
    tierBefore: optional(isHeaderText),
    protocol: optional(oneOf("SMB", "NFS")),
    rootSquash: optional(isHeaderText),
    snapshotDirectoryAccess: optional(isBoolean),
    directoryLease: optional(isBoolean),
    paidBursting: optional(isBoolean),
    paidBurstingMibps: optional(isCount),
    paidBurstingIops: optional(isCount),
    provisionedIops: optional(isCount),
    provisionedMibps: optional(isCount),
  } satisfies Fields<file.ShareSettings>),
  epoch: isCount,
  newestSnapshot: isCount,
  snapshotCount: isCount,
};

const locationFields: Fields<RecordOf<typeof file.nodeLocations>> = {
  parent: isId,
  folded: isText,
};

const nodeFields: Fields<RecordOf<typeof file.nodes>> = {
  id: isId,
  parent: isId,
  name: isText,
  kind: oneOf("file", "directory", "symlink"),
  etag: isTime,
  since: isCount,
  created: isTime,
  lastWrite: isTime,
  change: isTime,
  lastAccess: optional(isTime),
  attributes: whole(2 ** 32 - 1),
  permissionKey: optional(isHeaderText),
  metadata: isMetadata,
  content: isContent,
  headers: optional(isHeaders),
  lease: optional(isLease),
  allocated: optional(isCount),
  counted: optional(isCount),
  copy: optional(
    object({
      id: isHeaderText,
      source: isHeaderText,
      status: oneOf("success", "pending", "aborted", "failed"),
      progress: isHeaderText,
      completed: optional(isTime),
    }),
  ),
  cleared: optional(list(object({ from: isCount, to: isCount, epoch: isCount }))),
  posix: optional(object({ mode: isHeaderText, owner: isHeaderText, group: isHeaderText })),
  linkText: optional(isText),
  linkTo: optional(isId),
  links: optional(list(object(locationFields))),
};

/** Checks a table entity as a whole: its stored bytes must be the encoding of its properties. */
const isEntity: Check = (value) => {
  const { etag, properties, bytes: stored } = value as EntityRecord;
  const areValid = properties.every(
    ([name, type, property]) =>
      isText(name) &&
      (typeof property !== "string" || isText(property)) &&
      (type !== edm.dateTime || between(fileTimeStart, ticksMax)(property)),
  );
  const again = Buffer.from(entityRecord(etag, properties).bytes);
  return isTime(etag) && areValid && again.equals(stored);
};

interface RecordCheck {
  /** Checks of the parts of the key after the id of the owner (a container, for example). */
  readonly key: readonly Check[];
  readonly record: Check;
}

const messageId = bytes(16);
const deletionFields = { deletedAt: isTime, retentionDays: isCount };
const recordChecks: ReadonlyMap<string, RecordCheck> = new Map<string, RecordCheck>([
  [containers.name, { key: [isText], record: object(containerFields) }],
  [
    deletedContainers.name,
    { key: [isText, isTime], record: object({ ...containerFields, ...deletionFields }) },
  ],
  [blobs.name, { key: [isText], record: object(blobFields) }],
  [generations.name, { key: [isText, isTime, whole(2)], record: object(blobFields) }],
  [uploads.name, { key: [isText], record: object(uploadFields) }],
  [blocks.name, { key: [isText], record: object(blockFields) }],
  [queues.name, { key: [isText], record: object(queueFields) }],
  [messages.name, { key: [messageId], record: object(messageFields) }],
  [visibilityIndex.name, { key: [isTime, messageId], record: object({ expires: isTime }) }],
  [expiries.name, { key: [isTime, messageId], record: object({}) }],
  [tables.name, { key: [isText], record: object(tableFields) }],
  [entities.name, { key: [isBytes, isBytes], record: isEntity }],
  [file.shares.name, { key: [isText], record: object(shareFields) }],
  [
    file.deletedShares.name,
    { key: [isText, isTime], record: object({ ...shareFields, ...deletionFields }) },
  ],
  [file.shareSnapshots.name, { key: [isTime], record: object({ ...shareFields, at: isTime }) }],
  [file.permissions.name, { key: [isText], record: object({ sddl: isText }) }],
  [file.nodes.name, { key: [isId, isText], record: object(nodeFields) }],
  [file.nodeLocations.name, { key: [isId], record: object(locationFields) }],
  [
    file.versions.name,
    { key: [isId, isText, isCount], record: object({ ...nodeFields, until: isCount }) },
  ],
  [file.versionEnds.name, { key: [isCount, isId, isText, isCount], record: object({}) }],
]);

/** Throws if an operation cannot have written this record. `parts` are those of its key after the
 *  owner. */
export function refuseInvalidRecord(
  { name }: AnyTable,
  parts: readonly KeyPart[],
  record: unknown,
): void {
  const check = recordChecks.get(name);
  if (check === undefined) throw new Error(`records of ${name} are not declared`);
  if (!tuple(...check.key)(parts)) throw new Error("the key has a part of another type");
  if (!check.record(record)) throw new Error("a field has a value that no operation writes");
}
