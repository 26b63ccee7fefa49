import { delegationKeyValueFrom } from "./auth/delegation-key.ts";
import { authoriserOf } from "./authorise-call.ts";
import { aclCallerOf } from "./authorise-roles.ts";
import type { HttpService } from "./http-service.ts";
import type { ParsedRequest, SelectedRequest } from "./request-context.ts";
import type { ReceivedBody } from "../content/content-ref.ts";
import type { Call } from "../operation/execute.ts";
import type { CopySource } from "../operation/source.ts";
import type { Delegate } from "../protocol/delegation.ts";
import type { Principal } from "../protocol/principal.ts";

/** What the body of a request adds to the call. */
export interface CallBody {
  /** Result of the operation's body parser; undefined if there is none. */
  readonly parsed: unknown;
  readonly received: ReceivedBody | undefined;
  readonly source: CopySource | undefined;
}

export const noBody: CallBody = { parsed: undefined, received: undefined, source: undefined };

/** The call of a request whose body was received. */
export function callOf(
  http: HttpService,
  { selected, request, input: params, conditions, leaseId }: ParsedRequest,
  { parsed, received, source }: CallBody,
): Call {
  const { operation, location, version, settings, principal, address } = selected;
  const input = parsed === undefined ? params : { ...params, body: parsed };
  // Without a parsed body the address may be incomplete; the precheck does not run then.
  const isComplete = operation.completeAddress === undefined || parsed === undefined;
  return {
    operation,
    resource: http.service.resources[address.resource]!,
    account: location.account,
    features: settings,
    address: isComplete ? address : operation.completeAddress(address, input),
    version,
    endpoint: location.endpoint,
    secondary: location.secondary,
    input,
    conditions,
    leaseId,
    received,
    source,
    clientIdentity: request.connection,
    delegate: delegateOf(selected),
    callerId: callerIdOf(principal),
    aclCaller: aclCallerOf(http, selected, input),
    entities: entitiesOf(principal),
    authorise: authoriserOf(http, selected, input),
  };
}

/** The call with the settings and the caller of a request that was authenticated again. */
export function renewCall(http: HttpService, selected: SelectedRequest, call: Call): Call {
  return {
    ...call,
    features: selected.settings,
    delegate: delegateOf(selected),
    aclCaller: aclCallerOf(http, selected, call.input),
    authorise: authoriserOf(http, selected, call.input),
  };
}

/** The range of entities that a table SAS is limited to; undefined if there is no limit or no
 *  SAS. */
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

function delegateOf({ principal, settings }: SelectedRequest): Delegate | undefined {
  if (principal.kind !== "bearer") return undefined;
  const { objectId, tenantId } = principal;
  return (request) => {
    const fields = { ...request, objectId, tenantId };
    return { objectId, tenantId, value: delegationKeyValueFrom(settings.keys[0], fields) };
  };
}
