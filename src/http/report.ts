import { ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { Fault } from "../protocol/faults.ts";
import type { Result } from "../protocol/result.ts";
import type { Outcome } from "../operation/execute.ts";
import { diagnose } from "./diagnosis/diagnose.ts";
import { withoutSecrets } from "./diagnosis/secrets.ts";
import type { HttpService } from "./http-service.ts";
import type { Observer } from "./observer.ts";
import type { CompletedRequest } from "./request-context.ts";
import type { WireResponse } from "./wire.ts";

const noObserver: Observer = { watch: undefined };

/** Passes a completed request to the event feed, the audit log and the debug log, if they are in
 *  use. */
export function reportRequest(
  http: HttpService,
  completed: CompletedRequest,
  response: WireResponse,
  startedAt: Ticks,
): void {
  const { watch, audit } = http.observer ?? noObserver;
  if (watch !== undefined) watch({ ...completed, http, reply: response });
  if (audit !== undefined) audit({ ...completed, http, reply: response });
  if (http.log.verbose === true) logRequest(http, completed, response, startedAt);
}

function logRequest(
  http: HttpService,
  { context, result }: CompletedRequest,
  { status, headers }: WireResponse,
  startedAt: Ticks,
): void {
  const { request, requestId, operation } = context;
  const fault = faultOf(result);
  const fields = {
    requestId,
    operation: operation?.name ?? "none",
    seconds: Number(http.clock.monotonic() - startedAt) / Number(ticksPerSecond),
    service: http.service.name,
    method: request.method,
    // Signatures are secrets, also in a log.
    url: withoutSecrets(request.target),
    status,
    code: fault?.code ?? headers["x-ms-error-code"],
    ...(fault && diagnose(http, request, fault)),
    remoteAddress: request.remoteAddress,
  };
  http.log.debug(fields, "request");
}

/** The fault of a request that was rejected before the transaction or inside it; undefined
 *  otherwise. */
function faultOf(result: Result<Outcome>): Fault | undefined {
  if (!result.ok) return result.fault;
  return result.value.kind === "fault" ? result.value.fault : undefined;
}
