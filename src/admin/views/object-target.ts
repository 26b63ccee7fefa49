import { faultMessage, type Fault } from "../../protocol/faults.ts";
import type { Address } from "../../operation/operation.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { QueryReader } from "../../operation/service.ts";
import type { HttpService } from "../../http/http-service.ts";
import type { HttpServices } from "../admin-context.ts";
import { noAccount, refuse, type AdminResponse } from "../admin-response.ts";
import { formatValue, oneOf, optional, textCheck, type Checks } from "../inputs.ts";
import type { AuthenticatedRequest } from "../request.ts";

/** The blob, file, message queue or entity that a timeline, a recording or a stream of the request
 *  feed is about. Query parameters name it; this file checks them by the rules of the service. */
interface ObjectTarget {
  readonly service: ServiceName;
  readonly httpService: HttpService;
  readonly account: string;
  readonly address: Address;
}

/** Checks of the parameters that name an object. */
export function objectChecks(httpServices: HttpServices): Checks {
  return {
    service: oneOf(Object.keys(httpServices)),
    account: textCheck,
    container: textCheck,
    path: optional(textCheck),
    partitionKey: optional(textCheck),
    rowKey: optional(textCheck),
  };
}

/** Resolves the checked parameters to a resource, or rejects combinations that name none. */
export function objectTargetOf(
  httpServices: HttpServices,
  { accounts, query, sees }: Pick<AuthenticatedRequest, "accounts" | "query" | "sees">,
): ObjectTarget | { readonly refusal: AdminResponse } {
  const service = query.get("service") as ServiceName;
  const httpService = httpServices[service];
  const account = query.get("account") ?? "";
  if (httpService === undefined || accounts.get(account) === undefined) {
    return { refusal: noAccount(account) };
  }
  const misplaced = findConflictingParameters(service, query);
  if (misplaced !== undefined) return { refusal: refuse(400, "InvalidInput", misplaced) };
  const container = query.get("container") ?? "";
  const alone = httpService.service.identify(...addressing(service, container, noQuery));
  if (!alone.ok) {
    const refused = nameProblem("container", container, alone.fault);
    return { refusal: refuse(400, "InvalidInput", `${refused} ${nameRule}`) };
  }
  if (!sees({ service, account, name: container })) {
    const message = `no role of this login permits to read ${formatValue(container)}`;
    return { refusal: refuse(403, "RoleRequired", message) };
  }
  const identified = httpService.service.identify(...addressing(service, container, query));
  if (identified.ok) return { service, httpService, account, address: identified.value };
  const part = service === "table" ? "partitionKey" : "path";
  const refused = nameProblem(part, query.get(part) ?? "", identified.fault);
  return { refusal: refuse(400, "InvalidInput", refused) };
}

function findConflictingParameters(
  service: ServiceName,
  query: URLSearchParams,
): string | undefined {
  const has = (name: string): boolean => query.has(name);
  if (service !== "table") {
    const key = ["partitionKey", "rowKey"].find(has);
    return key && `${key} is for table entities; ${service} uses path`;
  }
  if (query.get("path")) return "path is not for tables; use partitionKey and rowKey";
  const isHalf = has("partitionKey") !== has("rowKey");
  return isHalf ? "partitionKey and rowKey must be given together" : undefined;
}

/** A problem with a name, with the message of the service. */
function nameProblem(part: string, given: string, fault: Fault): string {
  return `${part} ${formatValue(given)}: ${faultMessage(fault)}`;
}

/** Appended to the service's error message for an invalid name, because that message does not state
 *  the rule. Table names have other rules. */
const nameRule = "Names have 3 to 63 characters: a to z, 0 to 9 and hyphens between them.";

function addressing(
  service: ServiceName,
  container: string,
  query: Pick<URLSearchParams, "get">,
): [string, QueryReader] {
  const path = query.get("path") ?? "";
  const partition = query.get("partitionKey");
  const row = query.get("rowKey");
  if (service === "table") {
    const isEntity = partition !== null && row !== null;
    const keys = isEntity ? `(PartitionKey='${quoted(partition)}',RowKey='${quoted(row)}')` : "()";
    return [isEntity ? container + keys : `Tables('${quoted(container)}')`, nothingElse];
  }
  if (path !== "") return [`${container}/${path}`, nothingElse];
  return [container, service === "blob" ? containerQuery : nothingElse];
}

const noQuery = { get: () => null };
const nothingElse: QueryReader = { get: () => undefined };
const containerQuery: QueryReader = {
  get: (name) => (name === "restype" ? "container" : undefined),
};

function quoted(text: string): string {
  return text.replaceAll("'", "''");
}
