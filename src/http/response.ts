import { corsHeaders } from "../protocol/cors.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { HttpService } from "./http-service.ts";
import { renderFault, renderOutcome } from "./render.ts";
import type { Envelope } from "./render.ts";
import type { CompletedRequest, RequestContext } from "./request-context.ts";
import { structuredHeader } from "./structured-body.ts";
import type { WireResponse } from "./wire.ts";
import { newGuid } from "../operation/identifiers.ts";
import type { Random } from "../base/world.ts";

/** Renders the outcome, and adds the headers that depend on the request and not on the
 *  operation. */
export function renderResponse(http: HttpService, completed: CompletedRequest): WireResponse {
  const { context, result } = completed;
  const envelope = envelopeOf(http, context);
  const response = result.ok
    ? renderOutcome(result.value, envelope)
    : renderFault(result.fault, envelope);
  addCors(response, completed);
  addOverrides(response, context);
  addStructuredBody(response, context);
  return response;
}

const serverNames: Readonly<Record<ServiceName | "dfs", string>> = {
  blob: "Etagere-Blob/1.0",
  queue: "Etagere-Queue/1.0",
  table: "Etagere-Table/1.0",
  file: "Etagere-File/1.0",
  dfs: "Etagere-Dfs/1.0",
};

/** A longer `x-ms-client-request-id` is not returned; in UTF-16 code units. */
const clientRequestIdUnitsMax = 1024;

/** What the headers and faults of a response are rendered from, as far as the context has it. */
export function envelopeOf(
  { service: { name, api, dialect }, clock }: HttpService,
  { request, requestId, version, operation }: RequestContext,
): Envelope {
  const sent = request.headers["x-ms-client-request-id"];
  const isEchoed = sent !== undefined && sent.length <= clientRequestIdUnitsMax;
  const wallNow = clock.wall();
  const header = (wanted: string) => request.headers[wanted];
  return {
    requestId,
    clientRequestId: isEchoed ? sent : undefined,
    version,
    server: serverNames[api ?? name],
    wallNow,
    head: request.method === "HEAD",
    dialect,
    requestInfo: { header, target: request.target, version, operation, requestId, wallNow },
  };
}

/** Adds the CORS headers. Only an executed call has loaded the rules of the account; other faults
 *  have no CORS headers. */
function addCors(response: WireResponse, { context, result }: CompletedRequest): void {
  const cors = result.ok ? result.value.cors : undefined;
  if (cors === undefined || cors.length === 0) return;
  const { method, headers } = context.request;
  if (method === "OPTIONS") return;
  Object.assign(response.headers, corsHeaders(cors, { origin: headers["origin"], method }));
}

/** Confirms to the client that the checksums inside its structured body were verified. */
function addStructuredBody(response: WireResponse, { request, operation }: RequestContext): void {
  const form = request.headers[structuredHeader];
  if (form !== undefined && operation?.body.kind === "content" && response.status < 300) {
    response.headers[structuredHeader] = form;
  }
}

const overridable = {
  "cache-control": "Cache-Control",
  "content-disposition": "Content-Disposition",
  "content-encoding": "Content-Encoding",
  "content-language": "Content-Language",
  "content-type": "Content-Type",
} as const;

/** Replaces headers of a successful read by those of the SAS (`rscc`, `rscd`, `rsce`, `rscl`,
 *  `rsct`). */
function addOverrides(response: WireResponse, { principal, operation }: RequestContext): void {
  if (operation?.effect !== "reads" || response.status >= 300) return;
  if (principal?.kind !== "service-sas" && principal?.kind !== "delegation-sas") return;
  if (principal.overrides === undefined) return;
  for (const [name, header] of Object.entries(overridable)) {
    const value = principal.overrides[name as keyof typeof overridable];
    if (value !== undefined) response.headers[header] = value;
  }
}

const countMax = 2 ** 32;
const firstGroupLength = 8;

let count = countMax;
let rest = "";

/** Returns a GUID that is unique per request: the first group is a counter, the others are random
 *  per process. Sixteen random bytes per request would cost several times as much. */
export function newRequestId(random: Random): string {
  if (count >= countMax) {
    const seed = newGuid(random);
    count = 0;
    rest = seed.slice(firstGroupLength);
  }
  const group = count.toString(16).padStart(firstGroupLength, "0");
  count += 1;
  return group + rest;
}
