import { noETag } from "../operation/operation.ts";
import type { Version } from "../protocol/versions.ts";
import { formatIsoSeconds, parseIso } from "../base/dates.ts";
import { invalidXmlNode, missingXmlNode } from "../protocol/faults.ts";
import { type ServiceName, serviceLetters } from "../protocol/names.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { ticksPerDay, type Ticks } from "../base/ticks.ts";
import { xmlBody } from "../encoding/xml-body.ts";
import { element, textElement } from "../encoding/xml-writer.ts";
import { invalidXmlAt, xmlChildText, type XmlElement } from "../encoding/xml.ts";
import { serviceOperation } from "./service-resource.ts";

/** Get User Delegation Key, which all four services have. The key itself is derived by
 *  `http/auth/delegation-key.ts`. */

/** Most bytes of the request body, which has three short elements. */
const keyInfoBytesMax = 64 * 1024;
/** Limit of the service: a key is valid for at most seven days from now. */
const keyDaysMax = 7n;

/** The parsed body. If `start` is undefined, the key is valid from the time of the request. */
interface KeyInfo {
  readonly start: Ticks | undefined;
  readonly expiry: Ticks;
  readonly delegatedUserTenantId: string;
}

/** A tenant id that Azure rejects, because no tenant has it. This server does not know which
 *  tenants exist, and accepts all other ids. */
const nilTenant = "00000000-0000-0000-0000-000000000000";

/** Declares Get User Delegation Key of a service: a key with which a user signs SAS tokens instead
 *  of an account key. `since` is the first x-ms-version in which the service has it.
 *  learn.microsoft.com/rest/api/storageservices/get-user-delegation-key */
export function declareUserDelegationKey(
  service: ServiceName,
  { since }: { readonly since: Version },
) {
  return serviceOperation({
    name: "Get User Delegation Key",
    ids: ["Service_GetUserDelegationKey"],
    route: {
      method: "POST",
      resource: "service",
      query: { restype: "service", comp: "userdelegationkey" },
    },
    since,
    body: { kind: "xml", bytesMax: keyInfoBytesMax, parse: parseKeyInfo },
    permission: { resourceType: "s", bearerOnly: true },
    target: "must-exist",
    ...noETag,
    effect: "reads",
    decide: ({ input, now, version, delegate }) => {
      const { expiry, delegatedUserTenantId } = input.body;
      const start = input.body.start ?? now;
      if (expiry <= start || expiry <= now || expiry > now + keyDaysMax * ticksPerDay) {
        return invalidXmlNode("Expiry", formatIsoSeconds(expiry));
      }
      if (delegatedUserTenantId === nilTenant) return fail("AuthenticationFailed");
      const letter = serviceLetters[service];
      const key = delegate?.key({ start, expiry, service: letter, version, delegatedUserTenantId });
      if (key === undefined) return fail("AuthenticationFailed");
      const inner =
        textElement("SignedOid", key.objectId) +
        textElement("SignedTid", key.tenantId) +
        textElement("SignedStart", formatIsoSeconds(start)) +
        textElement("SignedExpiry", formatIsoSeconds(expiry)) +
        textElement("SignedService", letter) +
        textElement("SignedVersion", version) +
        textElement("SignedDelegatedUserTid", delegatedUserTenantId || undefined) +
        textElement("Value", key.value);
      return { body: xmlBody(element("UserDelegationKey", inner)) };
    },
  });
}

function parseKeyInfo(root: XmlElement | undefined): Result<KeyInfo> {
  if (root === undefined) return fail("InvalidXmlDocument");
  if (root.name !== "KeyInfo") return invalidXmlAt(root.start, "");
  const start = parseMoment(root, "Start");
  if (!start.ok) return start;
  const expiry = parseMoment(root, "Expiry");
  if (!expiry.ok) return expiry;
  if (expiry.value === undefined) return missingXmlNode("Expiry");
  const delegatedUserTenantId = xmlChildText(root, "DelegatedUserTid")?.trim() ?? "";
  return ok({ start: start.value, expiry: expiry.value, delegatedUserTenantId });
}

function parseMoment(root: XmlElement, name: string): Result<Ticks | undefined> {
  const written = xmlChildText(root, name)?.trim();
  if (written === undefined || written === "") return ok(undefined);
  const moment = parseIso(written);
  return moment === undefined ? invalidXmlNode(name, written) : ok(moment);
}
