import type { Batch } from "../../core/operation.ts";
import { fail, ok, type Result } from "../../core/result.ts";
import type { Service } from "../../core/service.ts";
import { newGuid } from "../../execution/identifiers.ts";
import type { Door } from "../door.ts";
import { parseEmbeddedRequest, renderEmbeddedReply, wireRequestOf } from "../embedded-http.ts";
import { boundaryOf, parseMultipart, renderMultipart } from "../multipart.ts";
import type { Part, RenderedPart } from "../multipart.ts";
import { renderFault, type Envelope } from "../render.ts";
import type { Router } from "../routing.ts";
import type { WireReply, WireRequest } from "../wire.ts";

export const batchPartsMax = 256;
/** As many as a body of 4 MiB could hold; what is beyond the limit has an answer of its own. */
const countedPartsMax = 65_536;
const partsAtOnceMax = 16;

export interface BatchRun {
  readonly door: Door;
  /** The request that carried the batch. */
  readonly request: WireRequest;
  readonly envelope: Envelope;
  readonly batch: Batch;
  readonly serve: (door: Door, request: WireRequest) => Promise<WireReply>;
}

export interface BatchAnswer {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export async function runBatch(run: BatchRun): Promise<Result<BatchAnswer>> {
  const { batch } = run;
  const boundary = boundaryOf(batch.contentType);
  if (boundary === undefined) return fail("InvalidInput");
  const parts = parseMultipart(batch.bytes, boundary, { partsMax: countedPartsMax });
  if (!parts.ok) return parts;
  if (parts.value.length === 0) return fail("InvalidInput");
  if (parts.value.length > batchPartsMax) {
    const refusal = renderFault({ code: "ExceedsMaxBatchRequestCount" }, run.envelope);
    return ok(answerOf(run, [renderPart(refusal, undefined)]));
  }
  const requests: WireRequest[] = [];
  for (const part of parts.value) {
    const request = requestOf(part, run);
    if (!request.ok) return request;
    requests.push(request.value);
  }
  const rendered: RenderedPart[] = [];
  const door = doorFor(run);
  for (let at = 0; at < requests.length; at += partsAtOnceMax) {
    const some = requests.slice(at, at + partsAtOnceMax);
    const replies = await Promise.all(some.map((request) => run.serve(door, request)));
    for (const [index, reply] of replies.entries()) {
      rendered.push(renderPart(reply, parts.value[at + index]?.headers["content-id"]));
    }
  }
  return ok(answerOf(run, rendered));
}

function requestOf(part: Part, { request, envelope }: BatchRun): Result<WireRequest> {
  const embedded = parseEmbeddedRequest(part);
  if (!embedded.ok) return embedded;
  const wire = wireRequestOf(embedded.value, request);
  // A part names no version of its own; its signature does not cover the one it inherits.
  return ok({ ...wire, headers: { ...wire.headers, "x-ms-version": envelope.version } });
}

/** The door as the parts find it: open to few operations, perhaps in one container only. */
function doorFor({ door, batch }: BatchRun): Door {
  const router: Router = (routed) => {
    const operation = door.router(routed);
    if (!operation.ok || batch.operations.includes(operation.value.name)) return operation;
    return fail("InvalidInput");
  };
  const { within } = batch;
  const service = within === undefined ? door.service : withinContainer(door.service, within);
  return { ...door, router, service };
}

function withinContainer(service: Service, container: string): Service {
  return {
    ...service,
    identify: (path, query) => {
      const address = service.identify(path, query);
      if (!address.ok || service.signedName(address.value).name === container) return address;
      return fail("InvalidInput");
    },
  };
}

/** Parts carry no date, and no length where there is nothing. */
function renderPart(reply: WireReply, contentId: string | undefined): RenderedPart {
  const { Date: _date, ...headers } = reply.headers;
  if (headers["Content-Length"] === "0") delete headers["Content-Length"];
  const around: Record<string, string> = { "Content-Type": "application/http" };
  if (contentId !== undefined) around["Content-ID"] = contentId;
  return renderEmbeddedReply({ ...reply, headers }, around);
}

function answerOf({ door }: BatchRun, parts: readonly RenderedPart[]): BatchAnswer {
  const boundary = `batchresponse_${newGuid(door.runtime.random)}`;
  return {
    type: `multipart/mixed; boundary=${boundary}`,
    bytes: renderMultipart(boundary, parts),
  };
}
