import { readAccounts, type AccountRecord } from "../../account/account-record.ts";
import type { RoleAssignmentInput } from "../../account/parse-identity.ts";
import { inputOf } from "../../account/parse-subscription.ts";
import { readIdentity } from "../../account/identity-manager.ts";
import { readState, readSubscriptions } from "../../account/subscription.ts";
import { formatIso } from "../../base/dates.ts";
import type { ContentStore } from "../../content/content.ts";
import { builtInRolesByName } from "../../protocol/roles/built-in-roles.ts";
import type { Store, View } from "../../store/store.ts";
import type { ContentFigures } from "../progress.ts";
import { type AccountFrame, FrameWriter, type ArchiveSink } from "./archive-format.ts";
import { ArchiveRefused } from "../../host/refused.ts";
import { measureOwned, RecordExporter } from "./record-exporter.ts";

/** Carries out `etagere export`: writes one state of accounts to an archive (`archive-format.ts`).
 *  Its records and contents are written by `record-exporter.ts`. */

/** What `exportAccounts` writes, and where to. */
export interface ExportOptions {
  readonly store: Store;
  readonly content: ContentStore;
  /** Names of accounts; empty: all that have a record. */
  readonly accounts: readonly string[];
  readonly withKeys: boolean;
  readonly release: string;
  readonly sink: ArchiveSink;
  /** Called before the first byte with about how many bytes all frames have before compression.
   *  Finding that out reads every record once more. */
  readonly onTotal?: ((bytes: number) => void) | undefined;
}

export interface ExportReport extends ContentFigures {
  readonly accounts: readonly string[];
  readonly records: number;
  readonly archiveBytes: number;
}

interface NamedAccount {
  readonly name: string;
  readonly record: AccountRecord;
}

/** Writes an archive of one state of the accounts, while requests continue to change them. Needs
 *  little memory whatever the size: records are read page by page, contents piece by piece. */
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
  const { content, withKeys, release, sink, onTotal } = options;
  const chosen = await chosenAccounts(view, options.accounts);
  const writer = new FrameWriter(sink);
  const names = chosen.map(({ name }) => name);
  const exporter = new RecordExporter({ view, content, writer });
  if (onTotal !== undefined) onTotal(await measureAccounts({ view, content }, chosen));
  await writer.begin();
  await writer.write("start", { release, createdAt: formatIso(view.now), accounts: names });
  const stored = await readIdentity(view);
  const assignments = [...stored.assignments.values()].map(({ input }) => input).filter(isPortable);
  for (const { name, record } of chosen) {
    const subscriptions = await exportedSubscriptions(view, name, withKeys);
    const assigned = assignments.filter(({ account }) => account === name);
    await writer.write("account", {
      ...accountFrame(name, record, withKeys),
      ...subscriptions,
      ...(assigned.length > 0 && { roleAssignments: assigned }),
    });
    await exporter.exportOwned({ kind: "account", id: record.id });
    await exporter.flush();
  }
  const { records, pieceBytes: contentBytes } = exporter;
  await writer.write("end", { records, contentBytes });
  await writer.finish();
  return reportOf(names, exporter, writer);
}

function reportOf(
  names: readonly string[],
  { records, contents }: RecordExporter,
  { bytesWritten }: FrameWriter,
): ExportReport {
  return { accounts: names, records, ...contents.figures, archiveBytes: bytesWritten };
}

async function measureAccounts(
  source: Parameters<typeof measureOwned>[0],
  chosen: readonly NamedAccount[],
): Promise<number> {
  let bytes = 0;
  for (const { record } of chosen) {
    bytes += await measureOwned(source, { kind: "account", id: record.id });
  }
  return bytes;
}

async function chosenAccounts(
  view: View,
  names: readonly string[],
): Promise<readonly NamedAccount[]> {
  const all = [...(await readAccounts(view))];
  const found = all
    .map(([name, record]): NamedAccount => ({ name, record }))
    .filter(({ name }) => names.length === 0 || names.includes(name));
  const missing = names.filter((name) => found.every((each) => each.name !== name));
  if (missing.length > 0) throw new ArchiveRefused(missing.map((name) => `no account "${name}"`));
  if (found.length === 0) throw new ArchiveRefused(["there are no accounts"]);
  return found;
}

/** Whether the role is built in, as on every server. Assignments of others are not archived. */
function isPortable({ role }: RoleAssignmentInput): boolean {
  return builtInRolesByName.has(role.toLowerCase());
}

/** The stored event subscriptions of an account, in the form of its frame, and the names of those
 *  that are paused. */
async function exportedSubscriptions(
  view: View,
  account: string,
  withKeys: boolean,
): Promise<Pick<AccountFrame, "subscriptions" | "pausedSubscriptions">> {
  const stored = await readSubscriptions(view, account);
  const exported = stored.filter(
    ({ record }) =>
      record.isConfigured !== true && (withKeys || record.destination.type === "queue"),
  );
  if (exported.length === 0) return {};
  const states = await Promise.all(exported.map((each) => readState(view, each)));
  const paused = exported.filter((_, at) => states[at]?.isPaused === true).map(({ name }) => name);
  const inputs = exported.map(({ name, record }) => [name, inputOf(record)]);
  return {
    subscriptions: Object.fromEntries(inputs),
    ...(paused.length > 0 && { pausedSubscriptions: paused }),
  };
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
