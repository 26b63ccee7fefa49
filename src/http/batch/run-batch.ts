import type { Batch } from "../../operation/reply.ts";
import type { FaultCode } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { newGuid } from "../../operation/identifiers.ts";
import { locationOptions, type HttpService } from "../http-service.ts";
import { parseEmbeddedRequest, wireRequestOf } from "../embedded-http.ts";
import { locate } from "../location.ts";
import { boundaryOf, parseMultipart, type Part } from "../multipart.ts";
import { renderFault, type Envelope } from "../render.ts";
import type { Router } from "../routing.ts";
import type { WireResponse, WireRequest } from "../wire.ts";
import { renderSubResponse, renderSubResponses } from "./sub-responses.ts";

/** Limit of the service. */
export const batchPartsMax = 256;
/** Parts of one batch that run at the same time. */
const partsAtOnceMax = 16;

/** A batch and what its parts are executed with. */
export interface BatchRun {
  readonly http: HttpService;
  /** The request of the whole batch. */
  readonly request: WireRequest;
  readonly envelope: Envelope;
  readonly batch: Batch;
  readonly serve: (http: HttpService, request: WireRequest) => Promise<WireResponse>;
}

export interface BatchResponse {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Runs the parts of a Blob Batch, each as a request of its own, and renders their responses. */
export async function runBatch(run: BatchRun): Promise<Result<BatchResponse>> {
  const { batch } = run;
  const boundary = boundaryOf(batch.contentType);
  if (boundary === undefined) return fail("InvalidInput");
  const parts = parseMultipart(batch.bytes, boundary, {
    // One more than allowed, because a batch with too many parts has a fault of its own; further
    // parts are not parsed.
    partsMax: batchPartsMax + 1,
    stopsAtMax: true,
  });
  if (!parts.ok) return parts;
  if (parts.value.length === 0) return fail("InvalidInput");
  if (parts.value.length > batchPartsMax) {
    return ok(rejectionOf(run, "ExceedsMaxBatchRequestCount"));
  }
  const location = locate(run.request, locationOptions(run.http));
  if (!location.ok) return location;
  const requests: WireRequest[] = [];
  for (const part of parts.value) {
    const request = requestOf(part, run, location.value.account);
    if (!request.ok) return request;
    requests.push(request.value);
  }
  if (!requests.every((request) => isWithin(run, request))) {
    return ok(rejectionOf(run, "InvalidInput"));
  }
  const rendered: Uint8Array[] = [];
  const http = serviceOf(run);
  for (let at = 0; at < requests.length; at += partsAtOnceMax) {
    const some = requests.slice(at, at + partsAtOnceMax);
    const replies = await Promise.all(some.map((request) => run.serve(http, request)));
    for (const [index, reply] of replies.entries()) {
      rendered.push(renderSubResponse(reply, parts.value[at + index]?.headers["content-id"]));
    }
  }
  return ok(responseOf(run, rendered));
}

function requestOf(
  part: Part,
  { request, envelope }: BatchRun,
  batchAccount: string,
): Result<WireRequest> {
  const embedded = parseEmbeddedRequest(part);
  if (!embedded.ok) return embedded;
  const wire = wireRequestOf(embedded.value, request);
  // A part has no version of its own. It inherits that of the batch, which its signature does not
  // contain.
  const headers = { ...wire.headers, "x-ms-version": envelope.version };
  return ok({ ...wire, headers, batchAccount });
}

/** The service of the batch, restricted to operations that may be a part of a batch. */
function serviceOf({ http }: BatchRun): HttpService {
  const router: Router = (routed) => {
    const operation = http.router(routed);
    if (!operation.ok || operation.value.mayBeBatched === true) return operation;
    return fail("InvalidInput");
  };
  return { ...http, router };
}

/** Whether a part addresses the container of the batch. A part with an invalid path is accepted
 *  here; it gets a fault of its own, as in a batch that is sent to the account. */
function isWithin({ http, batch: { within } }: BatchRun, request: WireRequest): boolean {
  if (within === undefined) return true;
  const location = locate(request, locationOptions(http));
  if (!location.ok) return true;
  const address = http.service.identify(location.value.path, location.value.query);
  return !address.ok || http.service.signedName(address.value).name === within;
}

/** The response of a batch that is rejected as a whole: one sub-response, without a Content-ID. */
function rejectionOf(run: BatchRun, code: FaultCode): BatchResponse {
  return responseOf(run, [renderSubResponse(renderFault({ code }, run.envelope), undefined)]);
}

function responseOf({ http }: BatchRun, parts: readonly Uint8Array[]): BatchResponse {
  const boundary = `batchresponse_${newGuid(http.runtime.random)}`;
  return {
    type: `multipart/mixed; boundary=${boundary}`,
    bytes: renderSubResponses(boundary, parts),
  };
}
