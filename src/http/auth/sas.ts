import { authenticationFailed } from "../../protocol/authentication-faults.ts";
import type { EntityRange, Principal, SasResource } from "../../protocol/principal.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { Failure, Result } from "../../protocol/result.ts";
import { queryText } from "../../protocol/signing/request.ts";
import { accountSasText, serviceSasText } from "../../protocol/signing/sas-text.ts";
import { authenticateDelegationSas } from "./delegation-sas.ts";
import { isSignedByAny, applyVerdict } from "./key-ring.ts";
import type { KeyRing, SasVerdict } from "./key-ring.ts";
import type { AuthOptions, AuthRequest } from "./request.ts";
import {
  checkFields,
  commonFields,
  encryptionScopeOf,
  mandatory,
  notWellFormed,
  overridesOf,
  nonEmptyText,
} from "./sas-fields.ts";
import { tokenResource } from "./sas-resource.ts";

/** Whether the query has fields of a SAS. A request with them must not count as anonymous, even if
 *  the signature is missing. */
export function hasSas({ query }: AuthRequest): boolean {
  return query.has("sig") || (query.has("sv") && (query.has("sp") || query.has("si")));
}

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
    // Without tokens there are no roles either, which limit these signatures.
    return options.oauth === undefined ? noDelegation() : authenticateDelegationSas(request, ring);
  }
  if (!options.sharedKeyAllowed) return fail("KeyBasedAuthenticationNotPermitted");
  return request.query.has("ss") || request.query.has("srt")
    ? authenticateAccountSas(request, ring)
    : authenticateServiceSas(request, ring);
}

function authenticateAccountSas(request: AuthRequest, ring: KeyRing): Result<Principal> {
  const text = accountSasText(request);
  const signature = queryText(request, "sig");
  const known = ring.verdicts.get(`account\n${text}${signature}`);
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
  ring.verdicts.set(`account\n${text}${signature}`, verdict);
  return remembered(verdict, request, ring);
}

/** Caches a verified token, then checks the request. */
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
      overrides: hasOverrides(resource) ? overridesOf(request) : undefined,
      entities: entities.value,
    },
  });
}

function hasOverrides({ service }: SasResource): boolean {
  return service === "blob" || service === "file";
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

function noDelegation(): Failure {
  return authenticationFailed("User delegation is not possible without bearer tokens.");
}

function notMatched(text: string): Failure {
  return authenticationFailed(`Signature did not match. String to sign used was ${text}`);
}
