import { expect, it } from "vitest";
import { emptyContent } from "../../content/content-ref.ts";
import { formatHttpDate } from "../../base/dates.ts";
import { ticksPerDay, ticksPerSecond, unixEpochTicks } from "../../base/ticks.ts";
import { parseXml, type XmlElement } from "../../encoding/xml.ts";
import type { BlobRecord } from "../records.ts";
import { arrowRow, blobColumns } from "./list-blobs-arrow.ts";
import { renderEntry, type EntryOptions } from "./blob-entry.ts";
import type { ListEntry } from "./scan-blobs.ts";

const written = 638_396_640_000_000_001n;
const everything: EntryOptions = {
  now: written + ticksPerDay,
  metadata: true,
  copy: true,
  tags: true,
  versions: true,
  immutability: true,
  legalHold: true,
  hierarchical: false,
  permissions: false,
  features: {
    versioning: true,
    containerSoftDeleteDays: 0,
    shareSoftDeleteDays: 0,
    publicAccess: true,
    lastAccessTracking: true,
  },
};
const nothing: EntryOptions = {
  ...everything,
  metadata: false,
  copy: false,
  tags: false,
  immutability: false,
  legalHold: false,
  features: { ...everything.features, lastAccessTracking: false },
};

const plain: BlobRecord = {
  etag: written,
  created: written - ticksPerDay,
  type: "BlockBlob",
  content: emptyContent,
  headers: {},
  metadata: [],
};
const rich: BlobRecord = {
  ...plain,
  headers: {
    contentType: "text/plain",
    contentEncoding: "gzip",
    contentLanguage: "fr",
    contentMd5: new Uint8Array(16).fill(7),
    cacheControl: "no-cache",
    contentDisposition: "attachment",
  },
  metadata: [
    ["first", "1 & 2"],
    ["Second", "<b>"],
  ],
  tags: { colour: "red", shape: "" },
  lease: { id: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", durationSeconds: -1 },
  tier: "Archive",
  tierChanged: written - 5n * ticksPerSecond,
  rehydration: { to: "Hot", due: written + 2n * ticksPerDay, priority: "High" },
  versionId: written,
  copy: {
    id: "c",
    source: "http://elsewhere/a",
    status: "failed",
    copiedBytes: 1,
    totalBytes: 2,
    completed: written,
    description: "500",
    destinationSnapshot: written - 1n,
  },
  incrementalCopy: true,
  expiresAt: written + 9n * ticksPerDay,
  encryptionScope: "scope",
  keySha256: new Uint8Array(32).fill(9),
  immutability: { until: written + ticksPerDay, mode: "locked" },
  legalHold: false,
};
const blob = (record: BlobRecord): ListEntry => ({ kind: "blob", name: "a/é", record });
const deleted = { at: written, retentionDays: 3 };

const entries: Readonly<Record<string, ListEntry>> = {
  "a plain blob": blob(plain),
  "a blob that has everything": blob(rich),
  "a blob of the tier Smart": blob({ ...plain, tier: "Smart", tierChanged: written }),
  "a snapshot": blob({ ...rich, snapshot: written }),
  "an earlier version": blob({ ...rich, superseded: true }),
  "a deleted blob": blob({ ...rich, deleted }),
  "a page blob": blob({ ...plain, type: "PageBlob", sequenceNumber: 2n ** 60n }),
  "a new page blob": blob({ ...plain, type: "PageBlob" }),
  "a sealed blob": blob({ ...plain, type: "AppendBlob", sealed: true }),
  "a name with versions only": { kind: "blob", name: "v", record: plain, versionsOnly: true },
  "an uncommitted blob": { kind: "uncommitted", name: "u" },
  "a prefix": { kind: "prefix", name: "p/" },
};

/** The leaves of the XML form by name; what is empty says nothing. */
function cellsOfXml(xml: string): Record<string, string> {
  const parsed = parseXml(xml);
  if (!parsed.ok) throw new Error("not XML");
  const leaves: Record<string, string> = {};
  const tell = (name: string, value: string) => {
    if (value !== "") leaves[name] = value;
  };
  for (const each of parsed.value.children) {
    if (each.name === "Properties") for (const { name, text } of each.children) tell(name, text);
    else if (each.name === "Metadata") tell("Metadata", pairs(metadataOf(each)));
    else if (each.name === "Tags") tell("Tags", pairs(tagsOf(each)));
    else tell(each.name, each.text);
  }
  if (parsed.value.name === "BlobPrefix") leaves["ResourceType"] = "blobprefix";
  return leaves;
}

type Pairs = Iterable<readonly [string, string]>;

const metadataOf = ({ children }: XmlElement): Pairs =>
  children.map(({ name, text }) => [name, text] as const);
const tagsOf = ({ children: [set] }: XmlElement): Pairs =>
  set?.children.map(({ children: [key, value] }) => [key!.text, value!.text] as const) ?? [];
const pairs = (all: Pairs): string => [...all].map((pair) => pair.join("=")).join(";");

/** A cell as the XML form would write it. */
function asText(name: string, value: unknown): string {
  switch (blobColumns[name as keyof typeof blobColumns]) {
    case "seconds":
      return formatHttpDate(unixEpochTicks + (value as bigint) * ticksPerSecond);
    case "map":
      return pairs(value as Pairs);
    default:
      return String(value);
  }
}

it.each(Object.entries(entries))("%s has the same values as in XML", (_what, entry) => {
  for (const options of [everything, nothing]) {
    const cells: Record<string, string> = {};
    for (const [name, value] of Object.entries(arrowRow(entry, options))) {
      const text = value === undefined ? "" : asText(name, value);
      if (text !== "") cells[name] = text;
    }
    expect(cells).toEqual(cellsOfXml(renderEntry(entry, options)));
  }
});

it("every column is filled by some entry", () => {
  const filled = new Set<string>();
  for (const entry of Object.values(entries)) {
    for (const [name, value] of Object.entries(arrowRow(entry, everything))) {
      if (value !== undefined) filled.add(name);
    }
  }
  expect([...filled].toSorted()).toEqual(Object.keys(blobColumns).toSorted());
});
