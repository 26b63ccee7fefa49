import { accounts, type AccountRecord } from "../../account/account-record.ts";
import { inputOf } from "../../account/parse-subscription.ts";
import { readSubscriptions } from "../../account/subscription.ts";
import { formatIso } from "../../base/dates.ts";
import type { ContentStore } from "../../content/content.ts";
import type { Store, View } from "../../store/store.ts";
import type { AccountFrame } from "./archive-format.ts";
import { ArchiveRefused } from "../refused.ts";
import { FrameWriter, type ArchiveSink } from "./frame-writer.ts";
import { RecordExporter } from "./record-exporter.ts";

export interface ExportOptions {
  readonly store: Store;
  readonly content: ContentStore;
  /** Names of accounts; empty: all that have a record. */
  readonly accounts: readonly string[];
  readonly withKeys: boolean;
  /** Version of this program. */
  readonly release: string;
  readonly sink: ArchiveSink;
  /** Called after each record with the totals so far. */
  readonly onProgress?: ((report: ExportReport) => void) | undefined;
}

export interface ExportReport {
  readonly accounts: readonly string[];
  readonly records: number;
  /** Bytes of contents that are not part of records, before compression. */
  readonly contentBytes: number;
  /** Length of the archive. */
  readonly archiveBytes: number;
}

interface NamedAccount {
  readonly name: string;
  readonly record: AccountRecord;
}

/**
 * Writes an archive of one state of the accounts, while requests continue to change them. Needs
 * little memory whatever the size: records are read page by page, contents piece by piece.
 */
export function exportAccounts(options: ExportOptions): Promise<ExportReport> {
  const { store, content } = options;
  return store.snapshot(
    async (view) => {
      const unpin = content.pin(view);
      try {
        return await writeArchive(view, options);
      } finally {
        unpin();
      }
    },
    { isUnlimited: true },
  );
}

async function writeArchive(view: View, options: ExportOptions): Promise<ExportReport> {
  const { content, withKeys, release, sink, onProgress } = options;
  const chosen = await chosenAccounts(view, options.accounts);
  const writer = new FrameWriter(sink);
  const names = chosen.map(({ name }) => name);
  const onRecord = (): void => onProgress?.(reportOf(names, exporter, writer));
  const exporter = new RecordExporter({ view, content, writer, onRecord });
  await writer.begin();
  await writer.write("start", { release, createdAt: formatIso(view.now), accounts: names });
  for (const { name, record } of chosen) {
    const subscriptions = await exportedSubscriptions(view, name, withKeys);
    const frame = accountFrame(name, record, withKeys);
    await writer.write("account", { ...frame, ...(subscriptions && { subscriptions }) });
    await exporter.exportOwned({ kind: "account", id: record.id });
    await exporter.flush();
  }
  const { records, contentBytes } = exporter;
  await writer.write("end", { records, contentBytes });
  await writer.finish();
  return reportOf(names, exporter, writer);
}

function reportOf(
  names: readonly string[],
  { records, contentBytes }: RecordExporter,
  { bytesWritten }: FrameWriter,
): ExportReport {
  return { accounts: names, records, contentBytes, archiveBytes: bytesWritten };
}

async function chosenAccounts(
  view: View,
  names: readonly string[],
): Promise<readonly NamedAccount[]> {
  const found: NamedAccount[] = [];
  for await (const entries of view.range(accounts.range([]))) {
    for (const { key, value } of entries) {
      const name = String(accounts.parts(key)[0]);
      if (names.length > 0 && !names.includes(name)) continue;
      found.push({ name, record: accounts.codec.decode(value) });
    }
  }
  const missing = names.filter((name) => found.every((each) => each.name !== name));
  if (missing.length > 0) throw new ArchiveRefused(missing.map((name) => `no account "${name}"`));
  if (found.length === 0) throw new ArchiveRefused(["there are no accounts"]);
  return found;
}

/** The stored subscriptions; undefined if there are none. */
async function exportedSubscriptions(
  view: View,
  account: string,
  withKeys: boolean,
): Promise<AccountFrame["subscriptions"]> {
  const stored = await readSubscriptions(view, account);
  const exported = stored.filter(
    ({ record }) =>
      record.isConfigured !== true && (withKeys || record.destination.type === "queue"),
  );
  if (exported.length === 0) return undefined;
  return Object.fromEntries(exported.map(({ name, record }) => [name, inputOf(record)]));
}

function accountFrame(
  name: string,
  { id, properties, stored, ...record }: AccountRecord,
  withKeys: boolean,
): AccountFrame {
  const settings = stored?.settings;
  const keys = withKeys ? stored?.keys : undefined;
  const hierarchicalNamespace = record.hierarchicalNamespace === true;
  return { name, id, hierarchicalNamespace, properties, settings, keys };
}
