import { createSecretKey } from "node:crypto";
import type { KeyObject } from "node:crypto";

import { authenticationFailed } from "../../protocol/authentication-faults.ts";
import type { Principal, SasAgent, SasResource } from "../../protocol/principal.ts";
import { ok } from "../../protocol/result.ts";
import type { Result } from "../../protocol/result.ts";
import { queryText } from "../../protocol/signing/request.ts";
import { delegationSasText } from "../../protocol/signing/sas-text.ts";
import type { Ticks } from "../../base/ticks.ts";
import { delegationKeyValue } from "./delegation-key.ts";
import { isSignedBy, applyVerdict } from "./key-ring.ts";
import type { KeyRing, SasVerdict } from "./key-ring.ts";
import type { AuthRequest } from "./request.ts";
import {
  commonFields,
  encryptionScopeOf,
  mandatory,
  nonEmptyText,
  timeField,
  notWellFormed,
  overridesOf,
} from "./sas-fields.ts";
import { tokenResource } from "./sas-resource.ts";

const serviceLetters = { blob: "b", queue: "q", file: "f", table: "t" } as const;
const mandatoryFields = ["sv", "sp", "se", "skoid", "sktid", "skt", "ske", "sks", "skv"];

/** Authenticates a SAS that is signed with a user delegation key, which is derived from the
 *  account's first key. */
export function authenticateDelegationSas(request: AuthRequest, ring: KeyRing): Result<Principal> {
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

/** What a signature is verified with. */
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
    return authenticationFailed(`Signature did not match. String to sign used was ${text}`);
  }
  const common = commonFields(request);
  if (!common.ok) return common;
  const { version, start, expiry } = common.value;
  if (queryText(request, "sks") !== serviceLetters[request.service]) return notWellFormed();
  if (expiry === undefined || expiry > keyExpiry) {
    return authenticationFailed("se must not be later than ske");
  }
  const agent = agentOf(request);
  if (!agent.ok) return agent;
  return ok({
    ...common.value,
    start: start === undefined || start < keyStart ? keyStart : start,
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

/** The first version that signs `saoid` and `suoid`. */
const agentSince = "2020-02-10";

/** The user for whom the SAS was made. A SAS names at most one. */
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
