import {
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
} from "../../admin/feed/feed-event.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Log } from "../../base/world.ts";
import { RecentMap } from "../../process/memo.ts";
import type { ObservedRequest, RequestTracer } from "../../http/http-service.ts";
import { formatETag } from "../../protocol/conditions.ts";
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
const slotBits = 14;
/** Bounds memory: of how many objects the last deletion is kept, and the last lease action. */
const writersMax = 10_000;
/** Limit of a value that a client chose; longer values are cut. */
const textUnitsMax = 512;

/** The request that has last changed each object. An ETag value is unique in a store, so that it
 *  identifies the write and its object. The slots are filled by every write, traced or not, and
 *  cause no garbage: a map of the last objects took longer than all else for a request that is not
 *  traced. Deletions have no ETag, and lease actions do not change it: they are kept by object. */
class LastWriters {
  readonly #etags = new BigInt64Array(2 ** slotBits);
  readonly #requestIds: string[] = Array.from({ length: 2 ** slotBits }, () => "");
  readonly #spans = new Map<number, SpanContext>();
  readonly #deletions = new RecentMap<Writer>(writersMax);
  readonly #leases = new RecentMap<Writer>(writersMax);

  add(change: ObjectChange, span: SpanContext | undefined): void {
    const { kind, etag, requestId } = change;
    if (kind === "lease") this.#leases.set(changedObjectKey(change), { requestId, span });
    else if (etag === undefined) this.#deletions.set(changedObjectKey(change), { requestId, span });
    else this.#addWrite(etag, requestId, span);
  }

  #addWrite(etag: Ticks, requestId: string, span: SpanContext | undefined): void {
    const slot = slotOf(etag);
    this.#etags[slot] = etag;
    this.#requestIds[slot] = requestId;
    if (span !== undefined) this.#spans.set(slot, span);
    else if (this.#spans.size > 0) this.#spans.delete(slot);
  }

  /** The request that wrote the state for which another was rejected; undefined if unknown. */
  of(event: FeedEvent, { isAboutLease, etag }: FeedRefusal): Writer | undefined {
    if (isAboutLease) return this.#leases.get(objectKey(event));
    if (etag === undefined) return this.#deletions.get(objectKey(event));
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

  const explain = (span: RecordedSpan, event: FeedEvent): void => {
    const { refused } = event;
    if (refused !== undefined) explainRefusal(span, refused, writers.of(event, refused));
  };

  return {
    begin({ method, headers }) {
      const parent = parentOf(headers["traceparent"]);
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
          feedEventsOf(observed, { emit: (event) => explain(traced, event), watched });
        }
        objectChangesOf(observed, (change) => writers.add(change, traced?.spanContext()));
      } catch (error) {
        log.error({ err: error }, "trace failed to record a request");
      }
    },
  };
}

function mayHaveChanged({ context, parts, reply }: ObservedRequest): boolean {
  if (parts !== undefined) return true;
  return reply.status < 300 && context.operation?.effect === "writes";
}

/** Version 00 of the W3C trace context. Later versions begin with the same fields. */
const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

/** The span of the client that a `traceparent` header names; undefined if it is not valid. */
function parentOf(text: string | undefined): SpanContext | undefined {
  if (text === undefined) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = traceparentForm.exec(text) ?? [];
  const isValid = version !== undefined && version !== "ff" && !(version === "00" && more === "-");
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const context = { traceId, spanId, traceFlags, isRemote: true };
  return isValid && isSpanContextValid(context) ? context : undefined;
}

/** Adds the attributes of a request and its response, by the semantic conventions of HTTP. */
function describeRequest(span: RecordedSpan, { http, context, reply }: ObservedRequest): void {
  const { request, requestId, operation } = context;
  const { method, target, headers, secure, remoteAddress } = request;
  const { status } = reply;
  const code = reply.headers["x-ms-error-code"];
  const query = target.indexOf("?");
  const { host, port } = splitHost(headers["host"] ?? "");
  if (operation !== undefined) span.name = `${method} ${operation.name}`;
  // One object without spreads, which took longer than the rest of this function.
  span.set({
    "http.request.method": method,
    "url.scheme": secure ? "https" : "http",
    "url.path": cut(query < 0 ? target : target.slice(0, query)),
    "server.address": cut(host),
    "server.port": port,
    "client.address": remoteAddress,
    "user_agent.original": cut(headers["user-agent"]),
    "http.response.status_code": status,
    "azure.resource_provider.namespace": "Microsoft.Storage",
    "azure.service.request.id": requestId,
    "etagere.client_request_id": cut(headers["x-ms-client-request-id"]),
    "etagere.service": http.service.api ?? http.service.name,
    "etagere.operation": operation?.name,
    "etagere.account": context.location?.account,
    "etagere.error_code": code,
    "etagere.etag": reply.headers["ETag"],
    "error.type": status >= 500 ? (code ?? String(status)) : undefined,
  });
  if (status >= 500) span.status = { code: SpanStatusCode.ERROR };
}

/** Explains why a request was rejected. `by`: the request that had changed the object. */
function explainRefusal(span: RecordedSpan, refusal: FeedRefusal, by: Writer | undefined): void {
  const { rule, unmet, asked, etag, lease, now, isAboutLease, given, fault } = refusal;
  span.set({
    "etagere.refused.rule": rule,
    "etagere.refused.code": fault?.code ?? "ConditionNotMet",
    "etagere.refused.condition": unmet,
    "etagere.refused.expected": cut(asked),
    "etagere.refused.current_etag": etag === undefined ? "none" : formatETag(etag),
    "etagere.refused.lease_state": lease || isAboutLease ? leaseState(lease, now ?? 0n) : undefined,
    "etagere.refused.has_lease_id": isAboutLease ? given !== undefined : undefined,
    "etagere.refused.by_request_id": by?.requestId,
    "etagere.refused.by_trace_id": by?.span?.traceId,
  });
  if (by?.span !== undefined) span.links = [{ context: by.span }];
}

/** Splits a `Host` header: `name`, `name:10000`, `[::1]` or `[::1]:10000`. */
function splitHost(text: string): { readonly host: string; readonly port: number | undefined } {
  const colon = text.lastIndexOf(":");
  const port = colon > text.lastIndexOf("]") ? Number(text.slice(colon + 1)) : Number.NaN;
  if (!Number.isInteger(port)) return { host: text, port: undefined };
  return { host: text.slice(0, colon), port };
}

function cut(text: string | undefined): string | undefined {
  return text?.slice(0, textUnitsMax);
}
