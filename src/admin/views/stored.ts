import { usedOfQuota } from "../../account/account-quota.ts";
import { accounts } from "../../account/account-record.ts";
import type { AccountSettings } from "../../account/settings.ts";
import { containers } from "../../blob/records.ts";
import type { Table } from "../../encoding/table.ts";
import { shares } from "../../file/records.ts";
import { Records } from "../../operation/records.ts";
import type { RecordView } from "../../operation/view.ts";
import type { ServiceName } from "../../protocol/names.ts";
import { queues } from "../../queue/records.ts";
import type { View } from "../../store/store.ts";
import { tables } from "../../table/records.ts";
import type { StoredView } from "../api-types.ts";
import { json, noAccount, type AdminResponse } from "../admin-response.ts";
import { textCheck } from "../inputs.ts";
import type { CheckedRequest } from "../request.ts";
import { declareRoute } from "../routes.ts";

/** Counts the containers, queues, tables and shares of an account, and reads how much of its quota
 *  is in use, for the account's page of the explorer. */

/** Limit per service: without one, the cost of the page would grow with what is stored. */
const namesCountedMax = 1000;

type NameCount = StoredView["services"][ServiceName];
type NameTable = Table<{ readonly account: bigint; readonly name: string }, object>;

const tablesOf: Readonly<Record<ServiceName, NameTable>> = {
  blob: containers as unknown as NameTable,
  queue: queues as unknown as NameTable,
  table: tables as unknown as NameTable,
  file: shares as unknown as NameTable,
};

export const storedRoute = declareRoute("GET /admin/v1/stored", "principal", count, {
  query: { account: textCheck },
});

async function count(request: CheckedRequest): Promise<AdminResponse> {
  const { context, query, accounts: known, sees } = request;
  const { runtime } = context;
  const account = query.get("account") ?? "";
  if (known.get(account) === undefined) return noAccount(account);
  return runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const owner = await records.get(accounts, account);
    const services: Partial<Record<ServiceName, NameCount>> = {};
    for (const [service, table] of Object.entries(tablesOf) as [ServiceName, NameTable][]) {
      const isSeen = (name: string): boolean => sees({ service, account, name });
      services[service] = await countNames(records, table, owner?.id, isSeen);
    }
    const quota = await quotaOf(view, known.get(account));
    return json({ account, services: services as StoredView["services"], ...quota });
  });
}

/** The quota of the account, and the bytes that it uses of it. Without a quota, bytes are not
 *  counted; `usedBytes` is also absent until the bytes of earlier writes are. */
async function quotaOf(
  view: View,
  settings: AccountSettings | undefined,
): Promise<Pick<StoredView, "quotaBytes" | "usedBytes">> {
  if (settings === undefined || settings.quotaBytes === 0) return {};
  const usedBytes = await usedOfQuota(view, settings.name);
  const { quotaBytes } = settings;
  return { quotaBytes, ...(usedBytes !== undefined && { usedBytes: Number(usedBytes) }) };
}

async function countNames(
  view: RecordView,
  table: NameTable,
  owner: bigint | undefined,
  isSeen: (name: string) => boolean,
): Promise<NameCount> {
  let scanned = 0;
  let names = 0;
  if (owner === undefined) return { count: 0, isComplete: true };
  const bounds = { ...table.range([owner]), limit: namesCountedMax + 1 };
  for await (const batch of view.scan(table, bounds)) {
    for (const { key } of batch) {
      scanned += 1;
      if (scanned > namesCountedMax) break;
      if (isSeen(String(table.parts(key)[1]))) names += 1;
    }
  }
  return { count: names, isComplete: scanned <= namesCountedMax };
}
