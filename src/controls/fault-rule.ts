import { dfsService } from "../blob/dfs/service.ts";
import { faults, type FaultCode } from "../protocol/faults.ts";
import { blobService } from "../blob/service.ts";
import { fileService } from "../file/service.ts";
import { queueService } from "../queue/service.ts";
import { tableService } from "../table/service.ts";
import { parseDuration } from "./travelling-clock.ts";

/** Parses a fault that a test describes into a rule that `fault-injector.ts` applies. */

/** A fault for the next requests over REST. At least one of `status`, `code`, `latency` and
 *  `connection` is required. */
export interface InjectedFault {
  /** Name of the operation, as in the list of supported ones ("Put Blob"). Default: any. */
  readonly operation?: string;
  /** Name of the account; default: any account. */
  readonly account?: string;
  /** Number of requests that get the fault; default 1. */
  readonly count?: number;
  /** Status of the response. The operation is not executed. */
  readonly status?: number;
  /** Error code of the response. Default: the usual code of the status (ServerBusy for 503). */
  readonly code?: string;
  /** Delay before the operation is executed, in milliseconds or as text ("2s"). */
  readonly latency?: string | number;
  /** The connection is closed without a response: before the operation is executed, or after its
   *  changes were committed. */
  readonly connection?: "dropBeforeCommit" | "dropAfterCommit";
}

export interface FaultRule {
  readonly operation: string | undefined;
  readonly account: string | undefined;
  readonly count: number;
  readonly response: { readonly status: number; readonly code: FaultCode } | undefined;
  readonly latencyMilliseconds: number;
  readonly connection: InjectedFault["connection"];
}

const countMax = 1_000_000;
const latencyMillisecondsMax = 3_600_000;
const services = [blobService, dfsService, queueService, tableService, fileService];

/** The error code of a fault that gives only a status, for statuses that several codes have. */
const usualCodes: Readonly<Record<number, FaultCode>> = {
  400: "InvalidInput",
  403: "AuthenticationFailed",
  404: "ResourceNotFound",
  409: "ResourceAlreadyExists",
  412: "ConditionNotMet",
  500: "InternalError",
  503: "ServerBusy",
};

/** Names of all operations ("Put Blob"), to reject a misspelt one. */
function operationNames(): ReadonlySet<string> {
  return new Set(services.flatMap(({ operations }) => operations.map(({ name }) => nameOf(name))));
}

/** The name without the form in parentheses: "List Blobs (Apache Arrow)" is "List Blobs". */
export function nameOf(operation: string): string {
  return operation.replace(/ \([^)]*\)$/, "");
}

/** Validates a fault; throws `RangeError` with the name of the wrong field. */
export function parseFault(fault: InjectedFault): FaultRule {
  checkNames(fault);
  const { operation, account, count = 1, latency = 0, connection } = fault;
  checkOperation(operation);
  if (!Number.isInteger(count) || count < 1 || count > countMax) {
    throw new RangeError(`count: must be 1 to ${countMax}, not ${JSON.stringify(count)}`);
  }
  if (!["undefined", "dropBeforeCommit", "dropAfterCommit"].includes(String(connection))) {
    throw new RangeError(
      `connection: must be "dropBeforeCommit" or "dropAfterCommit", not ` +
        JSON.stringify(connection),
    );
  }
  const latencyMilliseconds = parseDuration(latency, "latency");
  if (latencyMilliseconds > latencyMillisecondsMax) {
    throw new RangeError("latency: must be at most 1h");
  }
  const response = responseOf(fault);
  if (response !== undefined && connection !== undefined) {
    throw new RangeError("connection: contradicts status and code, because there is no response");
  }
  if (response === undefined && connection === undefined && latencyMilliseconds === 0) {
    throw new RangeError("a fault needs status, code, latency or connection");
  }
  return { operation, account, count, response, latencyMilliseconds, connection };
}

const fieldNames: ReadonlySet<string> = new Set([
  "operation",
  "account",
  "count",
  "status",
  "code",
  "latency",
  "connection",
]);

function checkNames(fault: InjectedFault): void {
  const unknown = Object.keys(fault).find((name) => !fieldNames.has(name));
  if (unknown === undefined) return;
  throw new RangeError(`${unknown}: no such field; there are ${[...fieldNames].join(", ")}`);
}

function checkOperation(operation: string | undefined): void {
  if (operation === undefined) return;
  const names = [...operationNames()];
  if (names.includes(operation)) return;
  const first = operation.split(" ")[0]?.toLowerCase() ?? "";
  const similar = names.filter((name) => name.toLowerCase().startsWith(`${first} `));
  const advice = similar.length === 0 ? "see docs/SUPPORT.md" : `there are ${similar.join(", ")}`;
  throw new RangeError(`operation: no operation ${JSON.stringify(operation)}; ${advice}`);
}

function responseOf({ status, code }: InjectedFault): FaultRule["response"] {
  if (status === undefined && code === undefined) return undefined;
  if (code !== undefined && !Object.hasOwn(faults, code)) {
    throw new RangeError(`code: no error code ${JSON.stringify(code)}`);
  }
  if (status !== undefined && !(Number.isInteger(status) && status >= 400 && status <= 599)) {
    throw new RangeError(`status: must be 400 to 599, not ${JSON.stringify(status)}`);
  }
  const known = (code as FaultCode | undefined) ?? codeOf(status ?? 0);
  return { status: status ?? faults[known].status, code: known };
}

function codeOf(status: number): FaultCode {
  const codes = Object.keys(faults) as FaultCode[];
  const found = usualCodes[status] ?? codes.find((code) => faults[code].status === status);
  return found ?? "InternalError";
}
