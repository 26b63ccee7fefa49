import type { Socket } from "node:net";
import type { Clock } from "../base/world.ts";
import type { Serve } from "../http/handler.ts";
import type { HttpService } from "../http/http-service.ts";
import { selectOperation } from "../http/request/prepare.ts";
import { BodyAborted } from "../http/request/request-body.ts";
import type { RequestContext } from "../http/request/request-context.ts";
import { renderResponse } from "../http/render.ts";
import { identifyTarget, locateRequest } from "../http/request/target.ts";
import type { WireRequest, WireResponse } from "../http/wire.ts";
import { anonymousPrincipal } from "../protocol/principal.ts";
import { dfsService } from "../blob/dfs/service.ts";
import { faults, type FaultCode } from "../protocol/faults.ts";
import { blobService } from "../blob/service.ts";
import { fileService } from "../file/service.ts";
import { queueService } from "../queue/service.ts";
import { tableService } from "../table/service.ts";
import { parseDuration } from "./travelling-clock.ts";

/** A fault that a test injects into the next requests over REST. At least one of `status`, `code`,
 *  `latency` and `connection` is required. */
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

interface FaultRule {
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
function nameOf(operation: string): string {
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

/** Injects faults into requests (`server.faults`): a test makes the server fail, be slow or close
 *  connections, to check how its client retries. Listeners call `serve` for each request. */

/** An injected fault that the next matching requests will get. */
export interface PendingFault {
  /** Number of requests that will still get the fault. */
  readonly remaining: number;
  /** Ends the fault: no further request gets it. */
  cancel(): void;
}

/** The faults of a server as tests see them (`server.faults`). */
export interface Faults {
  /** Adds a fault for the next matching requests. Faults apply in the order in which they were
   *  added. Throws `RangeError` if a field is invalid. */
  next(fault: InjectedFault): PendingFault;
  /** Number of faults that still wait for requests. */
  readonly pending: number;
  clear(): void;
}

interface ActiveFault {
  readonly rule: FaultRule;
  remaining: number;
}

/** Most faults that wait for requests; a test that adds more has forgotten to clear them. */
const activeMax = 10_000;

/** Applies the injected faults to requests. Without any, a request costs one comparison. */
export class FaultInjector implements Faults {
  readonly #clock: Clock;
  readonly #active = new Set<ActiveFault>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  next(fault: InjectedFault): PendingFault {
    const rule = parseFault(fault);
    if (this.#active.size >= activeMax) {
      throw new RangeError(`more than ${activeMax} faults wait for requests`);
    }
    const added = { rule, remaining: rule.count };
    this.#active.add(added);
    return {
      get remaining() {
        return added.remaining;
      },
      cancel: () => {
        added.remaining = 0;
        this.#active.delete(added);
      },
    };
  }

  get pending(): number {
    return this.#active.size;
  }

  clear(): void {
    for (const each of this.#active) each.remaining = 0;
    this.#active.clear();
  }

  /** Serves a request, with the first fault that matches it. */
  serve(http: HttpService, request: WireRequest, serve: Serve): Promise<WireResponse> {
    if (this.#active.size === 0) return serve(request);
    const context = contextOf(http, request);
    const rule = this.#take(context);
    return rule === undefined ? serve(request) : this.#apply(rule, http, context, serve);
  }

  #take({ operation, location }: RequestContext): FaultRule | undefined {
    const name = operation && nameOf(operation.name);
    for (const fault of this.#active) {
      const { rule } = fault;
      if (rule.operation !== undefined && rule.operation !== name) continue;
      if (rule.account !== undefined && rule.account !== location?.account) continue;
      fault.remaining -= 1;
      if (fault.remaining === 0) this.#active.delete(fault);
      return rule;
    }
    return undefined;
  }

  async #apply(
    { response, latencyMilliseconds, connection }: FaultRule,
    http: HttpService,
    context: RequestContext,
    serve: Serve,
  ): Promise<WireResponse> {
    const { request } = context;
    if (latencyMilliseconds > 0) await this.#delay(latencyMilliseconds, request);
    if (response !== undefined) {
      const { status, code } = response;
      const fault = { code, detail: { status } };
      return renderResponse(http, { context, result: { ok: false, fault } });
    }
    if (connection === "dropBeforeCommit") throw dropped(request);
    const reply = await serve(request);
    if (connection === undefined) return reply;
    if (reply.body?.kind === "stream") reply.body.reader.close();
    if (reply.body?.kind === "paged") reply.body.paged.release();
    throw dropped(request);
  }

  /** Waits for the injected latency, or until the client closes the connection. */
  #delay(milliseconds: number, { connection }: WireRequest): Promise<void> {
    const socket = connection as Socket | undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        socket?.off("close", end);
        resolve();
      };
      const cancel = this.#clock.after(milliseconds, end);
      socket?.once("close", end);
    });
  }
}

/** Finds the operation of a request without authenticating it: Azure answers 503 ServerBusy before
 *  it checks the signature, and so does an injected fault. */
function contextOf(http: HttpService, request: WireRequest): RequestContext {
  const received = { request, requestId: http.requestIds.next() };
  const located = locateRequest(http, received);
  if (!located.ok) return received;
  const addressed = identifyTarget(http, located.value);
  const settings = http.accounts.get(located.value.location.account);
  if (!addressed.ok || settings === undefined) return located.value;
  const principal = anonymousPrincipal;
  const selected = selectOperation(http, { ...addressed.value, principal, settings });
  return selected.ok ? selected.value : addressed.value;
}

/** Closes the connection. The handler sends nothing after this exception. */
function dropped({ connection }: WireRequest): BodyAborted {
  (connection as Socket | undefined)?.destroy();
  return new BodyAborted("connection dropped by an injected fault");
}
