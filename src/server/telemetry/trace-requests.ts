import {
  createTraceState,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type SpanContext,
} from "@opentelemetry/api";
import {
  changedObjectKey,
  feedEventsOf,
  objectChangesOf,
  objectKey,
  WatchedObjects,
  type FeedEvent,
  type FeedRefusal,
  type ObjectChange,
  type WatchedObject,
} from "../../admin/feed/feed-event.ts";
import { etagText } from "../../admin/feed/render-feed-event.ts";
import type { SpanAttributes } from "../../base/span.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Log } from "../../base/world.ts";
import { RecentMap } from "../../process/memo.ts";
import type { ObservedRequest, RequestTracer } from "../../http/http-service.ts";
import type { Service } from "../../operation/service.ts";
import type { WireRequest } from "../../http/wire.ts";
import type { Fault } from "../../protocol/faults.ts";
import { leaseState } from "../../protocol/lease.ts";
import { RecordedSpan, type SpanRecorder } from "./recorded-span.ts";
import type { Sampling } from "./sampling.ts";

/** Traces requests with OpenTelemetry (`--otlp`). The trace of a rejected request names the request
 *  that had changed the object before. */

/** A request that changed an object or its lease. The trace of a later request that is rejected,
 *  for example because its ETag is outdated, links to it. */
interface Writer {
  readonly requestId: string;
  /** Undefined if the request is not sampled. */
  readonly span: SpanContext | undefined;
}

/** How many of the last writes are known, as a power of two: slots are chosen by the last bits of
 *  the ETag value, so that some writes are forgotten earlier. */
export const slotBits = 14;
/** Bounds memory: of how many objects the last deletion is kept, and the last lease action. */
const objectsMax = 10_000;
/** Limit of a value that a client chose; longer values are cut. */
const textUnitsMax = 512;

/** The request that has last changed each object. An ETag value is used by one transaction of a
 *  store, so that it identifies the request. The slots are filled by every write, traced or not,
 *  and cause no garbage: a map of the last objects took 1.8 µs for each write that is not traced.
 *  Deletions have no ETag, and lease actions do not change it: they are kept by object. */
export class LastWriters {
  readonly #etags = new BigInt64Array(2 ** slotBits);
  readonly #requestIds: string[] = Array.from({ length: 2 ** slotBits }, () => "");
  readonly #spans = new Map<number, SpanContext>();
  readonly #deletions = new RecentMap<Writer>(objectsMax);
  readonly #leases = new RecentMap<Writer>(objectsMax);

  add(change: ObjectChange, span: SpanContext | undefined): void {
    const { kind, etag, requestId } = change;
    if (kind === "lease") {
      this.#leases.set(changedObjectKey(change), { requestId, span });
    } else if (kind === "deletion") {
      const key = changedObjectKey(change);
      this.#deletions.set(key, { requestId, span });
      this.#leases.delete(key);
    } else if (etag !== undefined) {
      this.#addWrite(etag, requestId, span);
      // The object exists again. It may be removed in another way later, as with its container.
      // Its name takes half a microsecond, which a server without deletions saves.
      if (this.#deletions.size > 0) this.#deletions.delete(changedObjectKey(change));
    }
  }

  #addWrite(etag: Ticks, requestId: string, span: SpanContext | undefined): void {
    const slot = slotOf(etag);
    this.#etags[slot] = etag;
    this.#requestIds[slot] = requestId;
    if (span !== undefined) this.#spans.set(slot, span);
    else if (this.#spans.size > 0) this.#spans.delete(slot);
  }

  /** The request that wrote the state for which another was rejected; undefined if unknown. */
  of(
    object: WatchedObject,
    { isAboutLease, found, etag }: Pick<FeedRefusal, "isAboutLease" | "found" | "etag">,
  ): Writer | undefined {
    if (isAboutLease) return this.#leases.get(objectKey(object));
    if (found === false) return this.#deletions.get(objectKey(object));
    if (etag === undefined) return undefined;
    const slot = slotOf(etag);
    if (this.#etags[slot] !== etag) return undefined;
    return { requestId: this.#requestIds[slot] ?? "", span: this.#spans.get(slot) };
  }
}

function slotOf(etag: Ticks): number {
  return Number(BigInt.asUintN(slotBits, etag));
}

/** Traces requests. The span of a rejected request says which rule rejected it, what it asked for
 *  and what was there, and which request had changed that before: another one of this process,
 *  among the last ones. Most requests are not sampled and must stay cheap: `npm run bench --
 *  --tracing` measures them. */
export function traceRequests(sampling: Sampling, recorder: SpanRecorder, log: Log): RequestTracer {
  const writers = new LastWriters();
  const watched = new WatchedObjects();

  const explain = (span: RecordedSpan, event: FeedEvent, service: Service): void => {
    const { refused } = event;
    if (refused === undefined) return;
    const { etag } = refused;
    const current = etag === undefined ? undefined : etagText(service, etag);
    explainRefusal(span, refused, { current, by: writers.of(event, refused) });
  };

  return {
    begin({ method, headers, isPart, span }) {
      if (isPart === true) return span?.begin(method);
      const parent = parentOf(headers["traceparent"], headers["tracestate"]);
      const isSampled =
        parent === undefined ? sampling.isRootSampled() : sampling.isChildSampled(parent);
      return isSampled ? new RecordedSpan(recorder, method, SpanKind.SERVER, parent) : undefined;
    },
    complete(span, observed) {
      if (span === undefined && !mayHaveChanged(observed)) return;
      // An exception here must not fail the request.
      try {
        const traced = span instanceof RecordedSpan ? span : undefined;
        if (traced !== undefined) {
          describeRequest(traced, observed);
          feedEventsOf(observed, {
            emit: (event) => explain(traced, event, observed.http.service),
            watched,
          });
        }
        objectChangesOf(observed, (change) => writers.add(change, traced?.spanContext()));
      } catch (error) {
        log.error({ err: error }, "trace failed to record a request");
      }
    },
    abort(span, request, error) {
      span.set(requestAttributes(request));
      span.end(error);
    },
  };
}

function mayHaveChanged({ context, parts, reply }: ObservedRequest): boolean {
  if (parts !== undefined) return true;
  return reply.status < 300 && context.operation?.effect === "writes";
}

/** Version 00 of the W3C trace context. Later versions begin with the same fields. */
const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

/** The span of the client that the headers `traceparent` and `tracestate` describe; undefined if
 *  the first is not valid. */
function parentOf(text: string | undefined, state: string | undefined): SpanContext | undefined {
  if (text === undefined) return undefined;
  const form = traceparentForm.exec(shortened(text));
  const [, version, traceId = "", spanId = "", flags = "", more] = form ?? [];
  const isValid = version !== undefined && version !== "ff" && !(version === "00" && more === "-");
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const known = { traceId, spanId, traceFlags, isRemote: true };
  const hasState = state !== undefined && state.length <= textUnitsMax;
  const context = hasState ? { ...known, traceState: createTraceState(state) } : known;
  return isValid && isSpanContextValid(context) ? context : undefined;
}

/** Adds the attributes of a request and its response, by the semantic conventions of HTTP. */
function describeRequest(span: RecordedSpan, observed: ObservedRequest): void {
  const { http, context, reply } = observed;
  const { request, requestId, operation, location } = context;
  const { status } = reply;
  const code = reply.headers["x-ms-error-code"] ?? faultOf(observed)?.code;
  if (operation !== undefined) span.name = `${request.method} ${operation.name}`;
  const attributes = requestAttributes(request);
  attributes["http.response.status_code"] = status;
  attributes["azure.service.request.id"] = requestId;
  attributes["etagere.service"] = http.service.api ?? http.service.name;
  attributes["etagere.operation"] = operation?.name;
  attributes["etagere.account"] = location && shortened(location.account, request.target);
  attributes["etagere.error_code"] = code;
  attributes["etagere.etag"] = reply.headers["ETag"];
  attributes["error.type"] = status >= 500 ? (code ?? String(status)) : undefined;
  span.set(attributes);
  if (status >= 500) span.status = { code: SpanStatusCode.ERROR };
}

/** The responses of the Table service have the code of an error in their body alone. */
function faultOf({ result }: ObservedRequest): Fault | undefined {
  if (!result.ok) return result.fault;
  return result.value.kind === "fault" ? result.value.fault : undefined;
}

function requestAttributes(request: WireRequest): Record<string, SpanAttributes[string]> {
  const { method, target, headers, secure, remoteAddress } = request;
  const { host, port } = splitHost(headers["host"] ?? "");
  const agent = headers["user-agent"];
  const clientId = headers["x-ms-client-request-id"];
  const query = target.indexOf("?");
  return {
    "http.request.method": method,
    "url.scheme": secure ? "https" : "http",
    "url.path": shortened(query < 0 ? target : target.slice(0, query), target),
    "server.address": host,
    "server.port": port,
    "client.address": remoteAddress,
    "user_agent.original": agent && shortened(agent),
    "azure.resource_provider.namespace": "Microsoft.Storage",
    "etagere.client_request_id": clientId && shortened(clientId),
  };
}

/** Explains why a request was rejected. `current`: the ETag at that time; `by`: the request that
 *  had changed the object. */
function explainRefusal(
  span: RecordedSpan,
  refusal: FeedRefusal,
  { current, by }: { readonly current: string | undefined; readonly by: Writer | undefined },
): void {
  const { rule, unmet, asked, found, lease, now, isAboutLease, given, fault } = refusal;
  span.set({
    "etagere.refused.rule": rule,
    "etagere.refused.code": fault?.code ?? "ConditionNotMet",
    "etagere.refused.condition": unmet,
    "etagere.refused.expected": asked && shortened(asked),
    "etagere.refused.current_etag": found === false ? "none" : current,
    "etagere.refused.lease_state": lease || isAboutLease ? leaseState(lease, now ?? 0n) : undefined,
    "etagere.refused.has_lease_id": isAboutLease ? given !== undefined : undefined,
    "etagere.refused.by_request_id": by?.requestId,
    "etagere.refused.by_trace_id": by?.span?.traceId,
  });
  if (by?.span !== undefined) span.links = [{ context: by.span }];
}

const portMax = 65_535;

/** Splits a `Host` header: `name`, `name:10000`, `[::1]` or `[::1]:10000`. Anything else is taken
 *  for a name. */
export function splitHost(text: string): { readonly host: string; readonly port?: number } {
  const colon = text.lastIndexOf(":");
  const digits = colon > text.lastIndexOf("]") ? text.slice(colon + 1) : "";
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : Number.NaN;
  if (!(port <= portMax)) return { host: shortened(text) };
  return { host: shortened(text.slice(0, colon), text), port };
}

/** Limits a value that a client chose, and the memory that keeping it takes: a part of a string
 *  (`whole`) refers to all of it, so that the part of a long one is copied. */
function shortened(text: string, whole = text): string {
  if (whole.length <= textUnitsMax) return text;
  // Headers and targets have one byte per character.
  return Buffer.from(text.slice(0, textUnitsMax), "latin1").toString("latin1");
}
