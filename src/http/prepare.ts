import type { Awaitable } from "../base/awaitable.ts";
import type { CopySource } from "../operation/source.ts";
import { noConditions, parseConditions } from "../protocol/conditions.ts";
import type { Conditions } from "../protocol/conditions.ts";
import { parseLeaseId } from "../protocol/lease.ts";
import type { LinkedResource } from "../protocol/named-resource.ts";
import type { Operation } from "../operation/operation.ts";
import { parseParams } from "../protocol/params.ts";
import type { ParamReader } from "../protocol/params.ts";
import { ok } from "../protocol/result.ts";
import type { Result } from "../protocol/result.ts";
import { precheck } from "../operation/execute.ts";
import type { Call, Outcome } from "../operation/execute.ts";
import { currentRoles, namedRoleCheck } from "./authorise-roles.ts";
import type { ContentStore } from "../content/content.ts";
import { checkAnnouncedLength, checkEmptyBody, receiveBody } from "./body.ts";
import type { Body } from "./body.ts";
import { callOf, noBody } from "./call-of.ts";
import { checkEncryption, clientKeyOf, encryptingContent } from "./client-key.ts";
import { locationOptions } from "./http-service.ts";
import type { HttpService } from "./http-service.ts";
import { RequestParams } from "./params.ts";
import { resolveSource } from "./source/resolve-source.ts";
import type { NamingParts } from "./source/resolve-source.ts";
import { receiveSource } from "./source/receive-source.ts";
import type { AuthenticatedRequest, ParsedRequest, SelectedRequest } from "./request-context.ts";
import { structuredFault, unwrapStructured } from "./structured-body.ts";
import { authenticate, verifyToken } from "./target.ts";
import type { WireRequest } from "./wire.ts";

/** Finds the operation of a request by method, resource, query and headers. */
export function selectOperation(
  { router, service }: HttpService,
  context: AuthenticatedRequest,
): Result<SelectedRequest> {
  const { request, requestId, location, version, address, principal, settings } = context;
  const method = service.dialect?.method(request.method, request.rawHeaders) ?? ok(request.method);
  if (!method.ok) return method;
  const operation = router({
    resource: address.resource,
    method: method.value,
    version,
    query: location.query,
    headers: request.headers,
  });
  if (!operation.ok) return operation;
  return ok({
    request,
    requestId,
    location,
    version,
    address,
    principal,
    settings,
    operation: operation.value,
  });
}

/** A call that is ready to be executed, or the outcome of the precheck that rejected it. */
export type PreparedCall = Result<Call> | { readonly call: Call; readonly outcome: Outcome };

/** Parses the parameters, finds the source of a copy, and receives the body. */
export function prepareCall(http: HttpService, selected: SelectedRequest): Awaitable<PreparedCall> {
  const parsed = parseRequest(http, selected);
  if (!parsed.ok) return parsed;
  const { operation } = selected;
  const linked = linkedRecord(operation);
  if (linked !== undefined) return prepareCopy(http, parsed.value, linked);
  if (operation.body.kind === "none") return ok(callOf(http, parsed.value, noBody));
  return receive(http, parsed.value, undefined);
}

async function prepareCopy(
  http: HttpService,
  parsed: ParsedRequest,
  linked: LinkedResource,
): Promise<PreparedCall> {
  const source = await findSource(http, parsed, linked);
  if (!source.ok) return source;
  if (parsed.selected.operation.body.kind !== "none") return receive(http, parsed, source.value);
  return ok(callOf(http, parsed, { ...noBody, source: source.value }));
}

/** Parses parameters, conditions and lease id. The order of the checks decides which fault a
 *  request with several faults gets. */
function parseRequest(http: HttpService, selected: SelectedRequest): Result<ParsedRequest> {
  const { operation, version, location, principal } = selected;
  const unwrapped = unwrapStructured(selected.request);
  if (!unwrapped.ok) return unwrapped;
  const request = unwrapped.value;
  const announced = checkAnnouncedLength(request, operation, version);
  if (!announced.ok) return announced;
  const reader = new RequestParams(request, location.query, version);
  const params = parseParams(operation.params, reader);
  if (!params.ok) return params;
  const filled = checkEmptyBody(request, operation);
  if (!filled.ok) return filled;
  const input = checkEncryption(params.value, principal);
  if (!input.ok) return input;
  const conditions = readConditions(http, operation, reader);
  if (!conditions.ok) return conditions;
  const leaseId = operation.lease === "none" ? noLeaseId : parseLeaseId(reader);
  if (!leaseId.ok) return leaseId;
  return ok({
    selected,
    request,
    input: input.value,
    conditions: conditions.value,
    leaseId: leaseId.value,
  });
}

const noLeaseId: Result<string | undefined> = ok(undefined);

const unconditional: Result<Conditions> = ok(noConditions);

function readMatch({ service: { name, dialect } }: HttpService, reader: ParamReader) {
  if (dialect?.readMatch === undefined) throw new Error(`${name} has no reader of If-Match`);
  return dialect.readMatch(reader);
}

function readConditions(http: HttpService, operation: Operation, reader: ParamReader) {
  if (operation.conditions === "none") return unconditional;
  if (operation.conditions === "match") return readMatch(http, reader);
  return parseConditions(reader, operation.conditions === "tags" ? "blob" : "plain");
}

/** The linked resource whose record the decision reads; undefined if there is none. The bytes of a
 *  `source` body are fetched by a request of their own, which is authorised like any other. */
function linkedRecord({ namedResources, body }: Operation): LinkedResource | undefined {
  if (namedResources === undefined || body.kind === "source") return undefined;
  return namedResources.find((named) => named.kind === "linked");
}

/** Finds the record that an operation copies from or renames. The transaction does not compare the
 *  settings of the source's account, so they are read before. */
async function findSource(
  http: HttpService,
  { selected, request }: ParsedRequest,
  linked: LinkedResource,
): Promise<Result<CopySource | undefined>> {
  const { location, principal, version } = selected;
  const { account, endpoint } = location;
  const context = { account, principal, version, linked, endpoint };
  await http.accounts.refresh?.();
  return resolveSource(namingParts(http), request, context);
}

function namingParts(http: HttpService): NamingParts {
  const { service, sources, accounts, clock } = http;
  return {
    service,
    sources,
    locating: locationOptions(http),
    publicAccessPermitted: (account) => accounts.get(account)?.publicAccess === true,
    isHierarchical: (account) => accounts.get(account)?.hierarchicalNamespace === true,
    authenticate: async (request, location) => {
      const address = service.identify(location.path, location.query);
      if (!address.ok) return address;
      const version = request.headers["x-ms-version"] ?? "";
      const addressed = { request, requestId: "", location, address: address.value, version };
      const authenticated = authenticate(http, await verifyToken(http, addressed));
      return authenticated.ok ? ok(authenticated.value.principal) : authenticated;
    },
    wallNow: () => clock.wall(),
    hasRoles: (account) => currentRoles(http, account) !== undefined,
    rolesAllow: (account, principal) => namedRoleCheck(http, account, principal),
  };
}

/** Smaller bodies have usually arrived before the checks could run, so they are not prechecked. */
const precheckBodyBytesMin = 64 * 1024;

/** Receives the body; a large one only after the checks have passed on a store snapshot. */
function receive(
  http: HttpService,
  parsed: ParsedRequest,
  source: CopySource | undefined,
): Awaitable<PreparedCall> {
  const { request, selected } = parsed;
  const { body } = selected.operation;
  if (body.kind === "source") {
    return receiveSource(http, request, callOf(http, parsed, noBody), body);
  }
  return isPrechecked(request)
    ? receiveAfterPrecheck(http, parsed, source)
    : receiveAtOnce(http, parsed, source);
}

async function receiveAfterPrecheck(
  http: HttpService,
  parsed: ParsedRequest,
  source: CopySource | undefined,
): Promise<PreparedCall> {
  const { request, selected } = parsed;
  // If the body completes the address, the target cannot be loaded before.
  if (selected.operation.completeAddress === undefined) {
    const call = callOf(http, parsed, { ...noBody, source });
    const outcome = await precheck(http.runtime, call);
    if (outcome !== undefined) return { call, outcome };
  }
  request.proceed();
  return receiveAtOnce(http, parsed, source);
}

function receiveAtOnce(
  http: HttpService,
  parsed: ParsedRequest,
  source: CopySource | undefined,
): Awaitable<PreparedCall> {
  const { request, selected, input } = parsed;
  const content = contentFor(http, input);
  const receiving = receiveBody(request, selected.operation, selected.version, content);
  const complete = (body: Result<Body>): PreparedCall => {
    if (!body.ok) return body;
    const { parsed: document, received } = body.value;
    return ok(callOf(http, parsed, { parsed: document, received, source }));
  };
  return receiving instanceof Promise
    ? receiving.then(complete, structuredFault)
    : complete(receiving);
}

function isPrechecked({ headers }: WireRequest): boolean {
  const length = headers["content-length"];
  const isSmall = length !== undefined && Number(length) <= precheckBodyBytesMin;
  return !isSmall || headers["expect"] !== undefined;
}

function contentFor({ runtime }: HttpService, input: object): ContentStore {
  return encryptingContent(runtime.content, clientKeyOf(input), runtime.random);
}
