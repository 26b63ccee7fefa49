import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span as SdkSpan,
  type SpanContext,
  type Tracer,
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
import type { Span, SpanAttributes } from "../../base/span.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Log } from "../../base/world.ts";
import { RecentMap } from "../../process/memo.ts";
import { messageOf } from "../../host/refused.ts";
import { withoutSecrets } from "../../http/diagnosis/secrets.ts";
import type { ObservedRequest, RequestTracer } from "../../http/http-service.ts";
import type { WireRequest } from "../../http/wire.ts";
import { formatETag } from "../../protocol/conditions.ts";
import { leaseState } from "../../protocol/lease.ts";

/** Traces requests with OpenTelemetry (`--otlp`). The trace of a rejected request names the request
 *  that had changed the object before. */

/** A request that changed an object or its lease. The trace of a later request that is rejected,
 *  for example because its ETag is outdated, links to it. */
interface Writer {
  readonly requestId: string;
  /** The ETag value that it wrote; undefined if it deleted the object. */
  readonly etag: Ticks | undefined;
  /** Undefined if the request is not sampled. */
  readonly span: SpanContext | undefined;
}

/** Bounds memory: most objects whose last change is kept, and whose last lease action is. */
const writersMax = 10_000;
/** The most changes that are kept in a list until they are entered by object. Beyond it the older
 *  half is dropped. */
const pendingMax = 10_000;
/** Limit of a value that a client chose; longer values are cut. */
const textUnitsMax = 512;

/** The request that has last changed each object. Changes are collected in a list, and entered by
 *  the name of their object only when a rejected request is traced: making the name is
 *  the most expensive part for a request that is not traced. */
class LastWriters {
  readonly #changes = new RecentMap<Writer>(writersMax);
  readonly #leases = new RecentMap<Writer>(writersMax);
  #pending: (readonly [ObjectChange, SpanContext | undefined])[] = [];

  add(change: ObjectChange, span: SpanContext | undefined): void {
    if (this.#pending.length >= pendingMax) this.#pending = this.#pending.slice(pendingMax / 2);
    this.#pending.push([change, span]);
  }

  /** The request that wrote the state for which another was rejected; undefined if unknown. */
  of(key: string, { isAboutLease, etag }: FeedRefusal): Writer | undefined {
    for (const [change, span] of this.#pending) {
      const writers = change.kind === "lease" ? this.#leases : this.#changes;
      const { requestId, etag: written } = change;
      writers.set(changedObjectKey(change), { requestId, etag: written, span });
    }
    this.#pending = [];
    if (isAboutLease) return this.#leases.get(key);
    const writer = this.#changes.get(key);
    return writer?.etag === etag ? writer : undefined;
  }
}

/** How requests are chosen. Those without a `traceparent` are chosen before a span exists, because
 *  a span that the SDK creates and does not sample is expensive; so there are two tracers. */
interface Sampling {
  /** Whether a request without a valid `traceparent` is sampled. */
  readonly isRootSampled: () => boolean;
  /** Traces requests without a `traceparent` for which `isRootSampled` is true. */
  readonly roots: Tracer;
  /** Traces requests with a `traceparent`, if the sampler of the SDK chooses them. */
  readonly others: Tracer;
  /** Whether a request is not sampled if its `traceparent` says that it is not. */
  readonly isParentBased: boolean;
}

/** Traces requests. The span of a rejected request says which rule rejected it, what it asked for
 *  and what was there, and which request had changed that before: another one of this process,
 *  among the last ones. Most requests are not sampled and must stay cheap: `npm run bench --
 *  --tracing` measures them. */
export function traceRequests(sampling: Sampling, log: Log): RequestTracer {
  const { isRootSampled, roots, others, isParentBased } = sampling;
  const writers = new LastWriters();
  const watched = new WatchedObjects();
  const kind = SpanKind.SERVER;

  const explain = (span: TracedSpan, event: FeedEvent): void => {
    const { refused } = event;
    if (refused !== undefined) span.refused(refused, writers.of(objectKey(event), refused));
  };

  return {
    begin({ method, headers }) {
      const parent = parentOf(headers["traceparent"]);
      if (parent === undefined) {
        if (!isRootSampled()) return undefined;
        return new TracedSpan(roots, roots.startSpan(method, { kind }, ROOT_CONTEXT));
      }
      const isSampled = (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
      if (isParentBased && !isSampled) return undefined;
      const context = trace.setSpanContext(ROOT_CONTEXT, parent);
      const span = others.startSpan(method, { kind }, context);
      return span.isRecording() ? new TracedSpan(others, span) : undefined;
    },
    complete(span, observed) {
      if (span === undefined && !mayHaveChanged(observed)) return;
      // An exception here must not fail the request.
      try {
        const traced = span instanceof TracedSpan ? span : undefined;
        if (traced !== undefined) {
          traced.describe(observed);
          feedEventsOf(observed, { emit: (event) => explain(traced, event), watched });
        }
        objectChangesOf(observed, (change) => writers.add(change, traced?.context));
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

class TracedSpan implements Span {
  readonly #tracer: Tracer;
  readonly #span: SdkSpan;

  constructor(tracer: Tracer, span: SdkSpan) {
    this.#tracer = tracer;
    this.#span = span;
  }

  get context(): SpanContext {
    return this.#span.spanContext();
  }

  begin(name: string, attributes?: SpanAttributes): Span {
    const parent = trace.setSpan(ROOT_CONTEXT, this.#span);
    const span = new TracedSpan(this.#tracer, this.#tracer.startSpan(name, {}, parent));
    if (attributes !== undefined) span.set(attributes);
    return span;
  }

  set(attributes: SpanAttributes): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) this.#span.setAttribute(name, value);
    }
  }

  end(error?: unknown): void {
    if (error !== undefined) {
      const message = withoutSecrets(messageOf(error));
      this.#span.setAttribute("error.type", error instanceof Error ? error.name : "error");
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
    }
    this.#span.end();
  }

  /** Adds the attributes of a request and its response, by the semantic conventions of HTTP. */
  describe({ http, context, reply }: ObservedRequest): void {
    const { request, requestId, operation } = context;
    const { status, headers } = reply;
    const code = headers["x-ms-error-code"];
    if (operation !== undefined) this.#span.updateName(`${request.method} ${operation.name}`);
    this.set({
      ...requestAttributes(request),
      "http.response.status_code": status,
      "azure.resource_provider.namespace": "Microsoft.Storage",
      "azure.service.request.id": requestId,
      "etagere.client_request_id": cut(request.headers["x-ms-client-request-id"]),
      "etagere.service": http.service.api ?? http.service.name,
      "etagere.operation": operation?.name,
      "etagere.account": context.location?.account,
      "etagere.error_code": code,
      "etagere.etag": headers["ETag"],
    });
    if (status >= 500) {
      this.set({ "error.type": code ?? String(status) });
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
  }

  /** Explains why the request was rejected. `by`: the request that had changed the object. */
  refused(refusal: FeedRefusal, by: Writer | undefined): void {
    const { rule, unmet, asked, etag, lease, now, isAboutLease, given, fault } = refusal;
    this.set({
      "etagere.refused.rule": rule,
      "etagere.refused.code": fault?.code ?? "ConditionNotMet",
      "etagere.refused.condition": unmet,
      "etagere.refused.expected": cut(asked),
      "etagere.refused.current_etag": etag === undefined ? "none" : formatETag(etag),
      "etagere.refused.lease_state":
        lease || isAboutLease ? leaseState(lease, now ?? 0n) : undefined,
      "etagere.refused.has_lease_id": isAboutLease ? given !== undefined : undefined,
      "etagere.refused.by_request_id": by?.requestId,
      "etagere.refused.by_trace_id": by?.span?.traceId,
    });
    if (by?.span !== undefined) this.#span.addLink({ context: by.span });
  }
}

function requestAttributes(request: WireRequest): SpanAttributes {
  const { method, target, headers, secure, remoteAddress } = request;
  const [path = ""] = target.split("?", 1);
  const [, host = "", port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(headers["host"] ?? "") ?? [];
  return {
    "http.request.method": method,
    "url.scheme": secure ? "https" : "http",
    "url.path": cut(path),
    "server.address": cut(host),
    "server.port": port === undefined ? undefined : Number(port),
    "client.address": remoteAddress,
    "user_agent.original": cut(headers["user-agent"]),
  };
}

function cut(text: string | undefined): string | undefined {
  return text?.slice(0, textUnitsMax);
}
