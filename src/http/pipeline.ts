import type { AccountSettings, Accounts } from "../account/settings.ts";
import { authorise, authoriseWithRecord, mayOverwrite } from "../core/authorise.ts";
import { authenticationFailed } from "../core/authentication-faults.ts";
import { parseConditions, type Conditions } from "../core/conditions.ts";
import type { CorsRule } from "../core/cors.ts";
import { parseLeaseId } from "../core/lease-request.ts";
import type { Meter } from "../core/meter.ts";
import type { Address, Operation } from "../core/operation.ts";
import { parseParams } from "../core/params.ts";
import type { Principal } from "../core/principal.ts";
import { fail, ok, type Result } from "../core/result.ts";
import type { Service } from "../core/service.ts";
import type { SourceBody } from "../core/source.ts";
import type { Clock, Log } from "../core/world.ts";
import { execute, preview, type Call, type Outcome, type Runtime } from "../execution/execute.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { checkAnnouncedLength, receiveBody } from "./body.ts";
import { locate, type Location, type LocationOptions } from "./location.ts";
import { paramReader } from "./params.ts";
import { requestVersion } from "./request-version.ts";
import type { Router } from "./routing.ts";
import { nameSource, type NamingParts } from "./source/name-source.ts";
import type { SourceReader } from "./source/source-reader.ts";
import { takeSource } from "./source/take-source.ts";
import type { WireRequest } from "./wire.ts";

/** What the pipeline of one service works with. */
export interface Door {
  readonly service: Service;
  readonly router: Router;
  readonly runtime: Runtime;
  readonly accounts: Accounts;
  readonly authenticator: Authenticator;
  readonly sources: SourceReader;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly options: DoorOptions;
}

export interface DoorOptions {
  readonly loose: boolean;
  readonly anyVersion: boolean;
  readonly productStyle: boolean;
  readonly oauth: "basic" | undefined;
}

/** How far a request came; the renderer tells the client as much as is known. */
export interface Progress {
  version?: string;
  operation?: Operation;
  principal?: Principal;
  cors?: readonly CorsRule[];
}

/** The steps of every request, in order. The first fault ends it. */
export async function runPipeline(
  door: Door,
  request: WireRequest,
  progress: Progress,
): Promise<Result<Outcome>> {
  const location = locateRequest(door, request);
  if (!location.ok) return location;
  const version = readVersion(door, request, location.value);
  if (!version.ok) return version;
  progress.version = version.value;
  const address = identify(door, request, location.value);
  if (!address.ok) return address;
  const target: Target = {
    location: location.value,
    address: address.value,
    version: version.value,
  };
  const known = authenticate(door, request, target);
  if (!known.ok) return known;
  progress.principal = known.value.principal;
  const operation = match(door, request, target);
  if (!operation.ok) return operation;
  progress.operation = operation.value;
  const allowed = checkPermission(door, target, known.value, operation.value);
  if (!allowed.ok) return allowed;
  const call = parse(door, request, target, known.value, operation.value, progress);
  if (!call.ok) return call;
  const sourced = await name(door, request, call.value, known.value);
  if (!sourced.ok) return sourced;
  const body = await receive(door, request, sourced.value);
  if ("outcome" in body) return ok(body.outcome);
  if (!body.ok) return body;
  return ok(await decide(door, body.value));
}

interface Target {
  readonly location: Location;
  readonly address: Address;
  readonly version: string;
}

interface Known {
  readonly principal: Principal;
  readonly settings: AccountSettings;
}

function locateRequest(door: Door, request: WireRequest) {
  return locate(request, locationOptions(door));
}

function locationOptions({ service, accounts, options }: Door): LocationOptions {
  return {
    service: service.name,
    productStyle: options.productStyle,
    isAccount: (account) => accounts.get(account) !== undefined,
  };
}

function readVersion({ service, options }: Door, request: WireRequest, { query }: Location) {
  const anyVersion = options.anyVersion || options.loose;
  return requestVersion(request, query, { service: service.name, anyVersion });
}

/** A preflight asks about the service, whatever path it names. */
function identify({ service }: Door, { method }: WireRequest, { path, query }: Location) {
  return method === "OPTIONS" ? service.identify("", query) : service.identify(path, query);
}

function authenticate(door: Door, request: WireRequest, target: Target): Result<Known> {
  const { accounts, authenticator, service, clock, options } = door;
  const { location, address, version } = target;
  const settings = accounts.get(location.account);
  if (settings === undefined) {
    const signed = request.headers["authorization"] !== undefined;
    return signed ? authenticationFailed() : fail("ResourceNotFound");
  }
  const principal = authenticator.authenticate(
    {
      service: service.name,
      resource: service.signedName(address),
      method: request.method,
      account: location.account,
      rawPath: location.rawPath,
      query: location.query.values,
      rawHeaders: request.rawHeaders,
      version,
      header: (name) => request.headers[name],
      secure: request.secure,
      remoteAddress: request.remoteAddress,
      wallNow: clock.wall(),
    },
    settings.keys,
    { sharedKeyAllowed: settings.sharedKey, oauth: options.oauth },
  );
  return principal.ok ? ok({ principal: principal.value, settings }) : principal;
}

function match({ router }: Door, request: WireRequest, { location, address }: Target) {
  return router({
    resource: address.resource,
    method: request.method,
    query: location.query,
    header: (name) => request.headers[name],
  });
}

function checkPermission(
  { service }: Door,
  { location, version }: Target,
  { principal }: Known,
  operation: Operation,
): Result<void> {
  if (location.secondary && operation.effect === "writes") {
    return fail("InsufficientAccountPermissions", { message: "Write operations are not allowed." });
  }
  return authorise(principal, operation.permission, { service: service.name, version });
}

function parse(
  door: Door,
  request: WireRequest,
  { location, address, version }: Target,
  known: Known,
  operation: Operation,
  progress: Progress,
): Result<Call> {
  const announced = checkAnnouncedLength(request, operation, version);
  if (!announced.ok) return announced;
  const reader = paramReader(request, location.query, version);
  const input = parseParams(operation.params, reader);
  if (!input.ok) return input;
  const conditions = readConditions(operation, reader);
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
    authorise: (access, exists) => {
      const { principal, settings } = known;
      if (principal.kind === "key") return granted;
      const target = { service: door.service.name, version };
      const recordAccess = access && {
        ...access,
        publicAccessPermitted: settings.publicAccess,
        wallNow: door.clock.wall(),
      };
      const need = operation.permission;
      const resolved = authoriseWithRecord(principal, need, target, recordAccess);
      if (!resolved.ok) return resolved;
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

const granted = ok(undefined);
const noConditions: Result<Conditions> = ok({});

function readConditions(operation: Operation, reader: ReturnType<typeof paramReader>) {
  return operation.conditions === "none" ? noConditions : parseConditions(reader);
}

/** Finds out what an operation copies from, if it does. */
async function name(
  door: Door,
  request: WireRequest,
  call: Call,
  { principal }: Known,
): Promise<Result<Call>> {
  if (call.operation.source === undefined) return ok(call);
  const { account, version } = call;
  const source = await nameSource(namingParts(door), request, { account, principal, version });
  return source.ok ? ok({ ...call, source: source.value }) : source;
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

type Reception = Result<Call> | { readonly outcome: Outcome };

/** Refuses what is doomed before the body is asked for, then takes the body in. */
async function receive(door: Door, request: WireRequest, call: Call): Promise<Reception> {
  const { operation, version } = call;
  if (operation.body.kind === "none") return ok(call);
  if (operation.body.kind === "source") return receiveSource(door, request, call, operation.body);
  const length = request.headers["content-length"];
  const small = length !== undefined && Number(length) <= previewBodyBytesMin;
  if (!small || request.headers["expect"] !== undefined) {
    const refusal = await preview(door.runtime, call);
    if (refusal !== undefined) return { outcome: refusal };
    request.proceed();
  }
  const body = await receiveBody(request, operation, version, door.runtime.content);
  if (!body.ok) return body;
  const { parsed, received } = body.value;
  const input = parsed === undefined ? call.input : { ...call.input, body: parsed };
  return ok({ ...call, input, received });
}

/** The bytes come from elsewhere, but only if the target would take them. */
async function receiveSource(
  { runtime, sources }: Door,
  request: WireRequest,
  call: Call,
  body: SourceBody,
): Promise<Reception> {
  const refusal = await preview(runtime, call);
  if (refusal !== undefined) return { outcome: refusal };
  const parts = { read: sources, content: runtime.content };
  const taken = await takeSource(parts, request, body, call.version);
  return taken.ok ? ok({ ...call, ...taken.value }) : taken;
}

/** The transaction. Bytes that no record came to own are given back. */
async function decide({ runtime }: Door, call: Call): Promise<Outcome> {
  let owned = false;
  try {
    const outcome = await execute(runtime, call);
    owned = outcome.kind === "reply";
    return outcome;
  } finally {
    if (!owned && call.received !== undefined) runtime.content.discard(call.received);
  }
}
