import { noConditions, parseConditions, type Conditions } from "../protocol/conditions.ts";
import type { Delegate } from "../protocol/delegation.ts";
import type { Dialect } from "../operation/dialect.ts";
import { parseLeaseId } from "../protocol/lease-request.ts";
import type { LinkedResource } from "../protocol/named-resource.ts";
import type { Operation } from "../operation/operation.ts";
import { parseParams, type ParamReader } from "../protocol/params.ts";
import type { Principal } from "../protocol/principal.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { precheck, type Call } from "../operation/execute.ts";
import { authoriserOf, checkPermission } from "./authorise-call.ts";
import { delegationKeyValueFrom } from "./auth/delegation-key.ts";
import type { ContentStore } from "../content/content.ts";
import { checkAnnouncedLength, checkEmptyBody, receiveBody } from "./body.ts";
import { checkEncryption, clientKeyOf, encryptingContent } from "./client-key.ts";
import {
  locationOptions,
  type HttpService,
  type AuthenticatedCaller,
  type RequestState,
  type RequestTarget,
} from "./http-service.ts";
import { paramReader } from "./params.ts";
import { resolveSource, type NamingParts } from "./source/resolve-source.ts";
import { receiveSource } from "./source/receive-source.ts";
import type { PreparedCall } from "./reception.ts";
import { structuredFault, unwrapStructured } from "./structured-body.ts";
import { authenticate } from "./target.ts";
import type { WireRequest } from "./wire.ts";

/** Which operation a request means, if the caller may run it. */
export function selectOperation(
  door: HttpService,
  request: WireRequest,
  target: RequestTarget,
  known: AuthenticatedCaller,
  progress: RequestState,
): Result<Operation> {
  const operation = match(door, request, target);
  if (!operation.ok) return operation;
  progress.operation = operation.value;
  const allowed = checkPermission(door, target, known, operation.value);
  if (!allowed.ok) return allowed;
  const isFlat = known.settings.hierarchicalNamespace !== true;
  const isUnfit = isFlat && operation.value.namespace === "hierarchical";
  return isUnfit ? fail("HierarchicalNamespaceNotEnabled") : operation;
}

/** A request whose operation is known, made ready to decide: parsed, its body received. */
export async function prepareCall(
  door: HttpService,
  request: WireRequest,
  target: RequestTarget,
  known: AuthenticatedCaller,
  operation: Operation,
  progress: RequestState,
): Promise<PreparedCall> {
  const unwrapped = unwrapStructured(request);
  if (!unwrapped.ok) return unwrapped;
  const plain = unwrapped.value;
  const call = parse(door, plain, target, known, operation, progress);
  if (!call.ok) return call;
  progress.call = call.value;
  const draft = call.value;
  const { body } = operation;
  const linked = linkedRecord(operation);
  if (linked !== undefined) {
    const named = await findSource(door, plain, draft, linked, known);
    if (!named.ok) return named;
  }
  if (body.kind === "none") return call;
  try {
    return await receive(door, plain, draft);
  } catch (error) {
    const wrong = structuredFault(error);
    if (wrong === undefined) throw error;
    return wrong;
  }
}

/** A call while what it works with is still coming in. */
type CallDraft = Mutable<Call, "address" | "input" | "received" | "source">;
type Mutable<T, K extends keyof T> = Omit<T, K> & { -readonly [P in K]: T[P] };

function match(
  { router, service }: HttpService,
  request: WireRequest,
  { location, address, version }: RequestTarget,
): Result<Operation> {
  const { dialect } = service;
  const method = dialect?.method(request.method, request.rawHeaders) ?? ok(request.method);
  if (!method.ok) return method;
  return router({
    resource: address.resource,
    method: method.value,
    version,
    query: location.query,
    header: (name) => request.headers[name],
  });
}

function entitiesOf(principal: Principal) {
  return principal.kind === "service-sas" ? principal.entities : undefined;
}

function delegateOf({ principal, settings }: AuthenticatedCaller): Delegate | undefined {
  if (principal.kind !== "bearer") return undefined;
  const { objectId, tenantId } = principal;
  return (request) => {
    const fields = { ...request, objectId, tenantId };
    return { objectId, tenantId, value: delegationKeyValueFrom(settings.keys[0], fields) };
  };
}

function parse(
  door: HttpService,
  request: WireRequest,
  { location, address, version }: RequestTarget,
  known: AuthenticatedCaller,
  operation: Operation,
  progress: RequestState,
): Result<CallDraft> {
  const announced = checkAnnouncedLength(request, operation, version);
  if (!announced.ok) return announced;
  const reader = paramReader(request, location.query, version);
  const parsed = parseParams(operation.params, reader);
  if (!parsed.ok) return parsed;
  const filled = checkEmptyBody(request, operation);
  if (!filled.ok) return filled;
  const input = checkEncryption(parsed.value, known.principal);
  if (!input.ok) return input;
  const conditions = readConditions(door, operation, reader);
  if (!conditions.ok) return conditions;
  const leaseId = operation.lease === "none" ? ok(undefined) : parseLeaseId(reader);
  if (!leaseId.ok) return leaseId;
  return ok({
    operation,
    resource: door.service.resources[address.resource]!,
    account: location.account,
    features: known.settings,
    address,
    version,
    endpoint: location.endpoint,
    secondary: location.secondary,
    input: input.value,
    conditions: conditions.value,
    leaseId: leaseId.value,
    received: undefined,
    source: undefined,
    clientIdentity: request.connection,
    delegate: delegateOf(known),
    entities: entitiesOf(known.principal),
    authorise: authoriserOf(door, { request, known, operation, version, input: input.value }),
    onLoaded: ({ cors }) => {
      progress.cors = cors;
    },
  });
}

const unconditional: Result<Conditions> = ok(noConditions);

function dialectOf({ service }: HttpService): Dialect {
  if (service.dialect === undefined) throw new Error(`${service.name} has no dialect`);
  return service.dialect;
}

function readConditions(door: HttpService, operation: Operation, reader: ParamReader) {
  if (operation.conditions === "none") return unconditional;
  if (operation.conditions === "match") return dialectOf(door).readMatch(reader);
  return parseConditions(reader, operation.conditions === "tags" ? "blob" : "plain");
}

/** The linked resource whose record the decision reads. The bytes of a `source` body come by a
 *  request of their own, which is authorised like any other. */
function linkedRecord({ names, body }: Operation): LinkedResource | undefined {
  if (names === undefined || body.kind === "source") return undefined;
  return names.find((named) => named.kind === "linked");
}

/** Finds out what an operation copies from, if it does. */
async function findSource(
  door: HttpService,
  request: WireRequest,
  call: CallDraft,
  linked: LinkedResource,
  { principal }: AuthenticatedCaller,
): Promise<Result<CallDraft>> {
  const { account, version } = call;
  const asking = { account, principal, version, linked };
  const source = await resolveSource(namingParts(door), request, asking);
  if (!source.ok) return source;
  call.source = source.value;
  return ok(call);
}

function namingParts(door: HttpService): NamingParts {
  const { service, sources, accounts, clock } = door;
  return {
    service,
    sources,
    locating: locationOptions(door),
    publicAccessPermitted: (account) => accounts.get(account)?.publicAccess === true,
    authenticate: (request, location) => {
      const address = service.identify(location.path, location.query);
      if (!address.ok) return address;
      const version = request.headers["x-ms-version"] ?? "";
      const known = authenticate(door, request, { location, address: address.value, version });
      return known.ok ? ok(known.value.principal) : known;
    },
    wallNow: () => clock.wall(),
  };
}

/** A body this small is here before the checks could be done twice. */
const previewBodyBytesMin = 64 * 1024;

/** Refuses what is doomed before the body is asked for, then takes the body in. */
async function receive(
  door: HttpService,
  request: WireRequest,
  call: CallDraft,
): Promise<PreparedCall> {
  const { operation, version } = call;
  if (operation.body.kind === "source") return receiveSource(door, request, call, operation.body);
  const length = request.headers["content-length"];
  const small = length !== undefined && Number(length) <= previewBodyBytesMin;
  if (!small || request.headers["expect"] !== undefined) {
    // What the body still has to name cannot be looked up yet.
    const isNamed = operation.locate === undefined;
    const refusal = isNamed ? await precheck(door.runtime, call) : undefined;
    if (refusal !== undefined) return { outcome: refusal };
    request.proceed();
  }
  const body = await receiveBody(request, operation, version, contentFor(door, call));
  if (!body.ok) return body;
  const { parsed, received } = body.value;
  // The input was made for this call alone: a copy would cost more than most parameters do.
  if (parsed !== undefined) (call.input as { body?: unknown }).body = parsed;
  if (operation.locate !== undefined) call.address = operation.locate(call.address, call.input);
  call.received = received;
  return ok(call);
}

function contentFor({ runtime }: HttpService, { input }: Call): ContentStore {
  return encryptingContent(runtime.content, clientKeyOf(input), runtime.random);
}
