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
import { nameOf, parseFault, type FaultRule, type InjectedFault } from "./fault-rule.ts";

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
