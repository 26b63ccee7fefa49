import {
  authorise,
  authoriseWithRecord,
  isDecidedByRecord,
  mayOverwrite,
  mayUseTags,
} from "../core/authorise.ts";
import { noConditions, parseConditions, type Conditions } from "../core/conditions.ts";
import type { Dialect } from "../core/dialect.ts";
import { parseLeaseId } from "../core/lease-request.ts";
import type { Address, Delegate, Operation } from "../core/operation.ts";
import { parseParams, type ParamReader } from "../core/params.ts";
import type { Principal } from "../core/principal.ts";
import { fail, ok, type Result } from "../core/result.ts";
import { preview, type Call } from "../execution/execute.ts";
import { delegationKeyValueFrom } from "./auth/delegation-key.ts";
import type { ContentStore } from "../content/content.ts";
import { checkAnnouncedLength, receiveBody } from "./body.ts";
import { checkEncryption, clientKeyOf, encryptingContent } from "./client-key.ts";
import { locationOptions, type Door, type Known, type Progress, type Target } from "./door.ts";
import { paramReader } from "./params.ts";
import { nameSource, type NamingParts } from "./source/name-source.ts";
import { receiveSource } from "./source/receive-source.ts";
import type { Reception } from "./reception.ts";
import { structuredFault, unwrapStructured } from "./structured-body.ts";
import { authenticate } from "./target.ts";
import type { WireRequest } from "./wire.ts";

/** Which operation a request means, if the caller may run it. */
export function choose(
  door: Door,
  request: WireRequest,
  target: Target,
  known: Known,
  progress: Progress,
): Result<Operation> {
  const operation = match(door, request, target);
  if (!operation.ok) return operation;
  progress.operation = operation.value;
  const allowed = checkPermission(door, target, known, operation.value);
  return allowed.ok ? operation : allowed;
}

/** A request whose operation is known, made ready to decide: parsed, its body received. */
export async function prepare(
  door: Door,
  request: WireRequest,
  target: Target,
  known: Known,
  operation: Operation,
  progress: Progress,
): Promise<Reception> {
  const unwrapped = unwrapStructured(request);
  if (!unwrapped.ok) return unwrapped;
  const plain = unwrapped.value;
  const call = parse(door, plain, target, known, operation, progress);
  if (!call.ok) return call;
  progress.call = call.value;
  const draft = call.value;
  const { source, body } = operation;
  if (source !== undefined) {
    const named = await findSource(door, plain, draft, source, known);
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
  { router, service }: Door,
  request: WireRequest,
  { location, address, version }: Target,
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

function checkPermission(
  door: Door,
  { location, address, version }: Target,
  { principal }: Known,
  operation: Operation,
): Result<void> {
  if (location.secondary && operation.effect === "writes") {
    return fail("InsufficientAccountPermissions", { message: "Write operations are not allowed." });
  }
  return authorise(principal, operation.permission, authorisationTarget(door, address, version));
}

function authorisationTarget({ service }: Door, address: Address, version: string) {
  if (service.name !== "table") return { service: service.name, version };
  const { name: table, entity } = service.signedName(address);
  return { service: service.name, version, table, entity };
}

function entitiesOf(principal: Principal) {
  return principal.kind === "service-sas" ? principal.entities : undefined;
}

function delegateOf({ principal, settings }: Known): Delegate | undefined {
  if (principal.kind !== "bearer") return undefined;
  const { objectId, tenantId } = principal;
  return (request) => {
    const fields = { ...request, objectId, tenantId };
    return { objectId, tenantId, value: delegationKeyValueFrom(settings.keys[0], fields) };
  };
}

function parse(
  door: Door,
  request: WireRequest,
  { location, address, version }: Target,
  known: Known,
  operation: Operation,
  progress: Progress,
): Result<CallDraft> {
  const announced = checkAnnouncedLength(request, operation, version);
  if (!announced.ok) return announced;
  const reader = paramReader(request, location.query, version);
  const parsed = parseParams(operation.params, reader);
  if (!parsed.ok) return parsed;
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
    contender: request.connection,
    delegate: delegateOf(known),
    entities: entitiesOf(known.principal),
    authorise: (access, exists, found) => {
      const { principal, settings } = known;
      if (principal.kind === "key") return granted;
      const need = operation.permission;
      const tagged = asksForTags(request);
      // What no record can change was settled before the transaction.
      const isSettled = need.overwrite !== true && !tagged;
      if (isSettled && !dependsOnRecord(door, principal)) return granted;
      const target = authorisationTarget(door, found, version);
      const recordAccess = access && {
        publicAccess: access.publicAccess,
        policies: access.policies,
        publicAccessPermitted: settings.publicAccess,
        wallNow: door.clock.wall(),
      };
      const resolved = authoriseWithRecord(principal, need, target, recordAccess);
      if (!resolved.ok) return resolved;
      if (tagged && !mayUseTags(resolved.value)) return fail("AuthorizationPermissionMismatch");
      const overwrites = exists && need.overwrite === true;
      return overwrites && !mayOverwrite(resolved.value)
        ? fail("UnauthorizedBlobOverwrite")
        : granted;
    },
    located: ({ cors }) => {
      progress.cors = cors;
    },
  });
}

/** Setting tags, or asking about them in a condition, takes more than the operation itself. */
function asksForTags({ headers }: WireRequest): boolean {
  return headers["x-ms-tags"] !== undefined || headers["x-ms-if-tags"] !== undefined;
}

/** The entities of a table signature are checked against the address that was found. */
function dependsOnRecord({ service }: Door, principal: Principal): boolean {
  const mayBeRanged = service.name === "table" && principal.kind === "service-sas";
  return mayBeRanged || isDecidedByRecord(principal);
}

const granted = ok(undefined);
const unconditional: Result<Conditions> = ok(noConditions);

function dialectOf({ service }: Door): Dialect {
  if (service.dialect === undefined) throw new Error(`${service.name} has no dialect`);
  return service.dialect;
}

function readConditions(door: Door, operation: Operation, reader: ParamReader) {
  if (operation.conditions === "none") return unconditional;
  if (operation.conditions === "match") return dialectOf(door).readMatch(reader);
  return parseConditions(reader, operation.conditions === "tags" ? "blob" : "plain");
}

/** Finds out what an operation copies from, if it does. */
async function findSource(
  door: Door,
  request: WireRequest,
  call: CallDraft,
  use: NonNullable<Operation["source"]>,
  { principal }: Known,
): Promise<Result<CallDraft>> {
  const { account, version } = call;
  const asking = { account, principal, version, use };
  const source = await nameSource(namingParts(door), request, asking);
  if (!source.ok) return source;
  call.source = source.value;
  return ok(call);
}

function namingParts(door: Door): NamingParts {
  const { service, sources, accounts, clock } = door;
  return {
    service,
    read: sources,
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
async function receive(door: Door, request: WireRequest, call: CallDraft): Promise<Reception> {
  const { operation, version } = call;
  if (operation.body.kind === "source") return receiveSource(door, request, call, operation.body);
  const length = request.headers["content-length"];
  const small = length !== undefined && Number(length) <= previewBodyBytesMin;
  if (!small || request.headers["expect"] !== undefined) {
    // What the body still has to name cannot be looked up yet.
    const isNamed = operation.locate === undefined;
    const refusal = isNamed ? await preview(door.runtime, call) : undefined;
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

function contentFor({ runtime }: Door, { input }: Call): ContentStore {
  return encryptingContent(runtime.content, clientKeyOf(input), runtime.random);
}
