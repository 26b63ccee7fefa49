import { authenticationFailed } from "../../protocol/authentication-faults.ts";
import type { EntityRange, Principal, SasAgent, SasResource } from "../../protocol/principal.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { queryText } from "../../protocol/signing/request.ts";
import {
  accountSasText,
  delegationSasText,
  serviceSasText,
} from "../../protocol/signing/sas-text.ts";
import {
  applyVerdict,
  isSignedBy,
  isSignedByAny,
  type KeyRing,
  type SasVerdict,
} from "./shared-key.ts";
import type { AuthOptions, AuthRequest } from "./request.ts";
import {
  checkFields,
  commonFields,
  encryptionScopeOf,
  mandatory,
  nonEmptyText,
  notWellFormed,
  overridesOf,
  timeField,
  tokenResource,
} from "./sas-fields.ts";
import { createSecretKey, type KeyObject } from "node:crypto";
import type { Ticks } from "../../base/ticks.ts";
import { delegationKeyValue } from "./delegation-key.ts";
import { serviceLetters } from "../../protocol/names.ts";

/** Authenticates requests with a shared access signature in their query: an account SAS, a service
 *  SAS, or one signed with a user delegation key. Verified tokens are cached, because clients send
 *  the same one with every request. `authenticator.ts` calls it.
 *  learn.microsoft.com/rest/api/storageservices/delegate-access-with-shared-access-signature */

/** Verifies the SAS in the query of a request, of whichever kind, and returns what it permits. A
 *  query that was verified before is found in the key ring (`shared-key.ts`), which has the
 *  account's keys and verified tokens. */
export function authenticateSas(
  request: AuthRequest,
  ring: KeyRing,
  options: AuthOptions,
): Result<Principal> {
  const seen = options.sharedKeyAllowed ? ring.byQuery.get(request.query) : undefined;
  if (seen !== undefined) return applyVerdict(seen, request);
  const malformed = checkFields(request, options.versions);
  if (malformed !== undefined) return malformed;
  if (queryText(request, "sig") === "") return mandatory("sig");
  if (request.query.has("skoid")) {
    // A SAS with a delegation key is limited by roles, which exist only if bearer tokens are
    // accepted.
    return options.oauth === undefined
      ? authenticationFailed("User delegation is not possible without bearer tokens.")
      : authenticateDelegationSas(request, ring);
  }
  if (!options.sharedKeyAllowed) return fail("KeyBasedAuthenticationNotPermitted");
  return request.query.has("ss") || request.query.has("srt")
    ? authenticateAccountSas(request, ring)
    : authenticateServiceSas(request, ring);
}

function authenticateAccountSas(request: AuthRequest, ring: KeyRing): Result<Principal> {
  const text = accountSasText(request);
  const signature = queryText(request, "sig");
  const key = `account\n${text}${signature}`;
  const known = ring.verdicts.get(key);
  if (known !== undefined) return remembered(known, request, ring);
  if (queryText(request, "sv") < "2015-04-05") return notWellFormed();
  for (const name of ["ss", "srt", "sp", "se"]) {
    if (queryText(request, name) === "") return mandatory(name);
  }
  if (!isSignedByAny(ring, text, signature)) return notMatched(text);
  const common = commonFields(request);
  if (!common.ok) return common;
  const verdict: SasVerdict = {
    ...common.value,
    principal: {
      kind: "account-sas",
      version: common.value.version,
      services: queryText(request, "ss"),
      resourceTypes: queryText(request, "srt"),
      permissions: queryText(request, "sp"),
      encryptionScope: encryptionScopeOf(request),
    },
  };
  ring.verdicts.set(key, verdict);
  return remembered(verdict, request, ring);
}

/** Caches the verified token under its query, so that later requests with the same query skip the
 *  signature. Then checks the request. */
function remembered(verdict: SasVerdict, request: AuthRequest, ring: KeyRing): Result<Principal> {
  ring.byQuery.set(request.query, verdict);
  return applyVerdict(verdict, request);
}

function authenticateServiceSas(request: AuthRequest, ring: KeyRing): Result<Principal> {
  const located = tokenResource(request);
  if (!located.ok) return located;
  const resource = located.value;
  const text = serviceSasText(request, resource);
  const signature = queryText(request, "sig");
  // Strings to sign of old versions contain neither the service nor the kind of resource, so the
  // cache key adds them.
  const key = `${resource.service} ${resource.kind}\n${text}\n${signature}`;
  const known = ring.verdicts.get(key);
  if (known !== undefined) return applyVerdict(known, request);
  if (!isSignedByAny(ring, text, signature)) return notMatched(text);
  const verdict = serviceVerdict(request, resource);
  if (!verdict.ok) return verdict;
  ring.verdicts.set(key, verdict.value);
  return applyVerdict(verdict.value, request);
}

function serviceVerdict(request: AuthRequest, resource: SasResource): Result<SasVerdict> {
  const common = commonFields(request);
  if (!common.ok) return common;
  const { version, start, expiry } = common.value;
  const identifier = nonEmptyText(request, "si");
  const permissions = nonEmptyText(request, "sp");
  if (identifier === undefined && permissions === undefined) return mandatory("sp");
  if (identifier === undefined && expiry === undefined) return mandatory("se");
  const hasOverrides = resource.service === "blob" || resource.service === "file";
  const entities = resource.service === "table" ? entityRange(request) : ok(undefined);
  if (!entities.ok) return entities;
  return ok({
    ...common.value,
    principal: {
      kind: "service-sas",
      version,
      resource,
      permissions,
      start,
      expiry,
      identifier,
      encryptionScope: resource.service === "blob" ? encryptionScopeOf(request) : undefined,
      overrides: hasOverrides ? overridesOf(request) : undefined,
      entities: entities.value,
    },
  });
}

/** Parses the range of entities of a table SAS. A row key restricts the rows of one partition, so
 *  it requires a partition key. */
function entityRange(request: AuthRequest): Result<EntityRange | undefined> {
  // Strings to sign of older versions do not contain these fields.
  if (queryText(request, "sv") < "2012-02-12") return ok(undefined);
  const range = {
    startPartitionKey: nonEmptyText(request, "spk"),
    startRowKey: nonEmptyText(request, "srk"),
    endPartitionKey: nonEmptyText(request, "epk"),
    endRowKey: nonEmptyText(request, "erk"),
  };
  if (range.startRowKey !== undefined && range.startPartitionKey === undefined) {
    return mandatory("spk");
  }
  if (range.endRowKey !== undefined && range.endPartitionKey === undefined) return mandatory("epk");
  return ok((range.startPartitionKey ?? range.endPartitionKey) ? range : undefined);
}

function notMatched(text: string): Failure {
  return authenticationFailed(`Signature did not match. String to sign used was ${text}`);
}

const mandatoryFields = ["sv", "sp", "se", "skoid", "sktid", "skt", "ske", "sks", "skv"];

/** Authenticates a SAS that is signed with a user delegation key, which is derived from the
 *  account's first key. */
function authenticateDelegationSas(request: AuthRequest, ring: KeyRing): Result<Principal> {
  const located = tokenResource(request);
  if (!located.ok) return located;
  for (const name of mandatoryFields) if (queryText(request, name) === "") return mandatory(name);
  if (request.query.has("si")) return notWellFormed();
  const resource = located.value;
  const text = delegationSasText(request, resource);
  const accountKey = ring.keys[0];
  if (text === undefined || accountKey === undefined) return notWellFormed();
  const signature = queryText(request, "sig");
  const key = `delegation ${resource.kind}\n${text}\n${signature}`;
  const known = ring.verdicts.get(key);
  if (known !== undefined) return applyVerdict(known, request);
  const verdict = delegationVerdict(request, resource, { accountKey, text, signature });
  if (!verdict.ok) return verdict;
  ring.verdicts.set(key, verdict.value);
  return applyVerdict(verdict.value, request);
}

/** A SAS whose signature is to be verified: the text that it signs, and the key of the account from
 *  which the delegation key is derived. */
interface Signed {
  readonly accountKey: KeyObject;
  readonly text: string;
  readonly signature: string;
}

function delegationVerdict(
  request: AuthRequest,
  resource: SasResource,
  { accountKey, text, signature }: Signed,
): Result<SasVerdict> {
  const keyStart = timeField(request, "skt");
  const keyExpiry = timeField(request, "ske");
  if (typeof keyStart !== "bigint" || typeof keyExpiry !== "bigint") return notWellFormed();
  if (!isSignedBy(delegationKey(request, accountKey, keyStart, keyExpiry), text, signature)) {
    return notMatched(text);
  }
  const common = commonFields(request);
  if (!common.ok) return common;
  const { version, start, expiry } = common.value;
  if (queryText(request, "sks") !== serviceLetters[request.service]) return notWellFormed();
  if (expiry === undefined) return mandatory("se");
  const agent = agentOf(request);
  if (!agent.ok) return agent;
  return ok({
    ...common.value,
    // The token is valid no longer than its key. Clients compute both from the current time, one
    // after the other, so that the token may end later.
    start: start === undefined || start < keyStart ? keyStart : start,
    expiry: expiry < keyExpiry ? expiry : keyExpiry,
    principal: {
      kind: "delegation-sas",
      version,
      resource,
      permissions: queryText(request, "sp"),
      encryptionScope: request.service === "blob" ? encryptionScopeOf(request) : undefined,
      overrides: request.service === "queue" ? undefined : overridesOf(request),
      objectId: queryText(request, "skoid"),
      tenantId: queryText(request, "sktid"),
      agent: agent.value,
    },
  });
}

/** The first `sv` whose string to sign contains `saoid` and `suoid`. In older versions anyone could
 *  have added them to the URL. */
const agentSince = "2020-02-10";

/** The user for whom the SAS was made (`saoid` or `suoid`); undefined if it names none. A SAS with
 *  both is malformed. */
function agentOf(request: AuthRequest): Result<SasAgent | undefined> {
  const isSigned = request.service === "blob" && queryText(request, "sv") >= agentSince;
  if (!isSigned) return ok(undefined);
  const authorised = nonEmptyText(request, "saoid");
  const other = nonEmptyText(request, "suoid");
  if (authorised !== undefined && other !== undefined) return notWellFormed();
  const objectId = authorised ?? other;
  return ok(objectId === undefined ? undefined : { objectId, isAuthorised: other === undefined });
}

function delegationKey(
  request: AuthRequest,
  accountKey: KeyObject,
  start: Ticks,
  expiry: Ticks,
): KeyObject {
  const value = delegationKeyValue(accountKey, {
    objectId: queryText(request, "skoid"),
    tenantId: queryText(request, "sktid"),
    start,
    expiry,
    service: queryText(request, "sks"),
    version: queryText(request, "skv"),
    delegatedUserTenantId: queryText(request, "skdutid"),
  });
  return createSecretKey(Buffer.from(value, "base64"));
}
