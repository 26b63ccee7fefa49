import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import { copyWith } from "../../base/copy-with.ts";
import type { CopySource } from "../../operation/source.ts";
import { noConditions, parseConditions, type Conditions } from "../../protocol/conditions.ts";
import { parseLeaseId } from "../../protocol/lease.ts";
import type { LinkedResource } from "../../protocol/named-resource.ts";
import type { Operation } from "../../operation/operation.ts";
import { parseParams, type ParamReader } from "../../protocol/params.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { isRoleCaller } from "../../protocol/roles/role.ts";
import { precheck, type Call, type Outcome } from "../../operation/execute.ts";
import { aclCallerOf, authoriserOf, sasPermitsOf } from "../auth/authorise-call.ts";
import {
  acceptsBody,
  checkAnnouncedLength,
  checkEmptyBody,
  checkNoChunks,
  receiveBody,
  structuredFault,
  unwrapStructured,
  type Body,
  checkEncryption,
  encryptingContent,
} from "./body.ts";
import type { HttpService } from "../http-service.ts";
import { RequestParams } from "./target.ts";
import { resolveSource } from "../source/resolve-source.ts";
import { receiveSource } from "../source/fetch-source.ts";
import type { AuthenticatedRequest, ParsedRequest, SelectedRequest } from "./request-context.ts";
import type { WireRequest } from "../wire.ts";
import { delegationKeyValueFrom } from "../auth/delegation-key.ts";
import { newSession } from "../auth/session.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import type { Delegate, Principal } from "../../protocol/principal.ts";

/** The steps of a request between its authentication and its execution: select the operation, parse
 *  the parameters, find the source of a copy, receive the body. `http/pipeline.ts` takes them for
 *  each request, `http/batch/change-set.ts` for each part of a table transaction. The result is a
 *  `Call`, which `operation/execute.ts` runs. */

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
  const { request } = parsed.value;
  const isInChunks = request.headers["transfer-encoding"] !== undefined;
  if (!isInChunks || acceptsBody(selected.operation.body, selected.version)) {
    return prepareParsed(http, parsed.value);
  }
  return checkNoChunks(request).then((empty) =>
    empty.ok ? prepareParsed(http, parsed.value) : empty,
  );
}

function prepareParsed(http: HttpService, parsed: ParsedRequest): Awaitable<PreparedCall> {
  const { operation } = parsed.selected;
  const linked = linkedRecord(operation);
  if (linked !== undefined) return prepareCopy(http, parsed, linked);
  if (operation.body.kind === "none") return ok(callOf(http, parsed, noBody));
  return receive(http, parsed, undefined);
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
  const unwrapped = unwrapStructured(selected.request, operation, version);
  if (!unwrapped.ok) return unwrapped;
  const request = unwrapped.value;
  const announced = checkAnnouncedLength(request, operation, version);
  if (!announced.ok) return announced;
  const reader = new RequestParams(request, location.query, version);
  const params = parseParams(operation.params, reader);
  if (!params.ok) return params;
  const filled = checkEmptyBody(request, operation);
  if (!filled.ok) return filled;
  const input = checkEncryption(operation, params.value, principal);
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

/** The resource named by a URL or path (`protocol/named-resource.ts`) whose record the decision
 *  reads, as the source of a copy; undefined if there is none. The bytes of a `source` body are
 *  fetched by a separate request, which is authorised like any other. */
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
  const { account, endpoint, accountPlace } = location;
  const context = { account, principal, version, linked, endpoint, accountPlace };
  await http.accounts.refresh?.();
  return resolveSource(http, request, context);
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
    const announced = request.headers["content-length"];
    const length = announced === undefined ? undefined : Number(announced);
    const outcome = await precheck(http.runtime, call, length);
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
  const { operation, location, address } = selected;
  const resource = http.service.resources[address.resource]!;
  const encrypted = { operation, input, resource, account: location.account, address };
  const receiving = mapAwaitable(encryptingContent(http.runtime, encrypted), (content) =>
    receiveBody(request, operation, selected.version, {
      content,
      documents: http.processing.documents,
    }),
  );
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

/** What a `Call` has from the body of the request. */
interface CallBody {
  /** Result of the operation's body parser; undefined if there is none. */
  readonly parsed: unknown;
  readonly received: ReceivedBody | undefined;
  readonly source: CopySource | undefined;
}

const noBody: CallBody = { parsed: undefined, received: undefined, source: undefined };

/** Puts together the call of a request whose body was received. */
function callOf(
  http: HttpService,
  { selected, request, input: params, conditions, leaseId }: ParsedRequest,
  { parsed, received, source }: CallBody,
): Call {
  const { operation, location, version, settings, principal, address } = selected;
  const input = parsed === undefined ? params : copyWith(params, { body: parsed });
  // If the body is not parsed yet, the address may be incomplete, and the precheck does not run.
  const isComplete = operation.completeAddress === undefined || parsed === undefined;
  return {
    operation,
    resource: http.service.resources[address.resource]!,
    account: location.account,
    features: settings,
    identityRevision: identityRevisionOf(selected),
    address: isComplete ? address : operation.completeAddress(address, input),
    version,
    endpoint: location.endpoint,
    secondary: location.secondary,
    accountPlace: location.accountPlace,
    input,
    conditions,
    leaseId,
    received,
    source,
    requestId: selected.requestId,
    clientRequestId: request.headers["x-ms-client-request-id"],
    clientIdentity: request.connection,
    delegate: delegateOf(selected),
    callerId: callerIdOf(principal),
    aclCaller: aclCallerOf(http, selected, input),
    permits: sasPermitsOf(http, selected),
    entities: entitiesOf(principal),
    authorise: authoriserOf(http, selected, input),
  };
}

/** The revision of the stored principals and role assignments with which a caller with roles was
 *  authorised; undefined for other callers. The transaction compares it, so that a role that was
 *  removed meanwhile does not count. `features` has the revision that replaced keys change. */
function identityRevisionOf({ principal, settings }: SelectedRequest): bigint | undefined {
  return isRoleCaller(principal) ? settings.identityRevision : undefined;
}

/** The call with the settings and the caller of a request that was authenticated again, because the
 *  transaction found other settings, keys or roles (`AccountChanged`). */
export function renewCall(http: HttpService, selected: SelectedRequest, call: Call): Call {
  return {
    ...call,
    features: selected.settings,
    identityRevision: identityRevisionOf(selected),
    delegate: delegateOf(selected),
    aclCaller: aclCallerOf(http, selected, call.input),
    permits: sasPermitsOf(http, selected),
    authorise: authoriserOf(http, selected, call.input),
  };
}

/** The range of entities that a table SAS is limited to; undefined without a limit. */
function entitiesOf(principal: Principal) {
  return principal.kind === "service-sas" ? principal.entities : undefined;
}

/** The object id of the user who acts; undefined if the credentials name none. */
function callerIdOf(principal: Principal): string | undefined {
  switch (principal.kind) {
    case "bearer":
      return principal.objectId;
    case "delegation-sas":
      return principal.agent?.objectId;
    default:
      return undefined;
  }
}

/** Functions that derive user delegation keys and session tokens from the first account key, for
 *  the user of a bearer token: no other caller may get them. */
function delegateOf({ principal, settings, location }: SelectedRequest): Delegate | undefined {
  if (principal.kind !== "bearer") return undefined;
  const { objectId, tenantId } = principal;
  const [accountKey] = settings.keys;
  return {
    key: (request) => {
      const fields = { ...request, objectId, tenantId };
      return { objectId, tenantId, value: delegationKeyValueFrom(accountKey, fields) };
    },
    session: (request) =>
      newSession(accountKey, { ...request, account: location.account, principal }),
  };
}
