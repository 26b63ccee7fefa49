import { noETag } from "../../operation/operation.ts";
import { faultMessage, type FaultCode } from "../../protocol/faults.ts";
import type {
  IndexedFault,
  AddHeader,
  PartResponse,
  TransactionDialect,
  TransactionPart,
} from "../../operation/dialect.ts";
import { operation } from "../resources.ts";
import type { TableAddress } from "../path.ts";

/** Entity group transactions, which clients send as one body with several operations (parts). This
 *  file declares them and checks what the parts must have in common; `http/batch` runs them. */

/** Azure's limit of the request body. */
const transactionBytesMax = 4 * 1024 * 1024;
/** Azure's limit of operations per transaction. */
const operationsMax = 100;

/** Up to 100 writes to one partition in one transaction. Its parts are executed as operations of
 *  their own (`TransactionDialect`), so `decide` is never called.
 *  learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions */
export const entityGroupTransaction = operation({
  name: "Entity Group Transaction",
  ids: ["Table_Batch"],
  route: { method: "POST", resource: "batch" },
  body: { kind: "transaction", bytesMax: transactionBytesMax },
  namedResources: [{ kind: "parts", credentials: "request" }],
  permission: { resourceType: "o" },
  target: "must-exist",
  ...noETag,
  status: 202,
  decide: () => {
    throw new Error("Entity Group Transaction has no decision: its parts are executed instead");
  },
});

/** Returns the fault of the first part that is in another table or partition than the first part,
 *  or names an entity a second time, as the service does; undefined if there is none. */
function check(parts: readonly TransactionPart[], count: number): IndexedFault | undefined {
  if (count > operationsMax) return tooManyOperations();
  const first = parts[0]?.address as TableAddress | undefined;
  const rows = new Set<string>();
  for (let index = 0; index < parts.length; index += 1) {
    const { resource, table, keys } = parts[index]!.address as TableAddress;
    if (resource !== "entity" && resource !== "entities") return faultAt(index, "InvalidInput");
    if (keys === undefined) continue;
    const sameTable = table === first?.table || table.toLowerCase() === first?.table.toLowerCase();
    if (!sameTable || keys.partitionKey !== (first?.keys ?? keys).partitionKey) {
      return faultAt(index, "CommandsInBatchActOnDifferentPartitions");
    }
    if (rows.has(keys.rowKey)) return faultAt(index, "InvalidDuplicateRow");
    rows.add(keys.rowKey);
  }
  return undefined;
}

/** The fault of a transaction with too many parts. Recorded from Azure: it names the last part that
 *  is allowed, not the first one too many. */
function tooManyOperations(): IndexedFault {
  const limit = `the maximum ${operationsMax} changes per change set.`;
  const message = `The batch request operation exceeds ${limit}`;
  const detail = { message, headers: { "Cache-Control": "no-cache" } };
  return { index: operationsMax - 1, fault: { code: "InvalidInput", detail } };
}

function faultAt(index: number, code: FaultCode): IndexedFault {
  return { index, fault: { code } };
}

/** Faults whose message starts with the index of the part (`0:…`) even if the transaction has only
 *  one part (recorded from Azure). With several parts all messages do. */
const alwaysIndexed: ReadonlySet<FaultCode> = new Set([
  "TableNotFound",
  "InvalidResourceName",
  "OutOfRangeInput",
]);

function fault({ index, fault: cause }: IndexedFault, count: number) {
  if (count === 1 && !alwaysIndexed.has(cause.code)) return cause;
  const message = `${index}:${faultMessage(cause)}`;
  return { code: cause.code, detail: { ...cause.detail, message } };
}

/** The headers of a part's response in the order of the service. */
const partHeaderOrder = [
  "X-Content-Type-Options",
  "Cache-Control",
  "Preference-Applied",
  "DataServiceVersion",
  "Location",
  "DataServiceId",
  "ETag",
  "Content-Type",
];

/** Passes the headers of one part's response to `add`. Recorded from Azure: DataServiceVersion is
 *  1.0 for updates and deletes, 3.0 for all others. */
function partHeaders(response: PartResponse, add: AddHeader): void {
  const { method, status } = response;
  const isOlderVersion = method !== "POST" && method !== "GET" && status < 300;
  for (const each of partHeaderOrder) {
    const isVersion = each === "DataServiceVersion";
    const value = isVersion ? (isOlderVersion ? "1.0;" : "3.0;") : response.header(each);
    if (value !== undefined) add(each, value);
  }
}

export const transaction: TransactionDialect = { operationsMax, check, fault, partHeaders };
