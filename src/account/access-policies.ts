import { formatIso, parseIso } from "../base/dates.ts";
import { withSubject } from "../protocol/faults.ts";
import type { XmlParser } from "../operation/operation.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";
import { invalidXmlAt, xmlChild, xmlChildText, type XmlElement } from "../encoding/xml.ts";
import { element, textElement } from "../encoding/xml-writer.ts";

/** Stored access policies of containers, queues, tables and shares: parses the XML body of Set ACL,
 *  and renders that of Get ACL. All four services use these functions. A SAS can name a stored
 *  access policy by its id. */

/** Limit of the service per container, queue, table or share. */
export const storedPoliciesMax = 5;
/** Limit of the service for the id of a policy, in UTF-16 code units. */
export const policyIdUnitsMax = 64;
/** Most bytes of the body of Set ACL, far more than the permitted policies need. */
export const accessPoliciesBytesMax = 64 * 1024;

/** Parses the body of Set ACL of any service; an empty body removes all policies. */
export function parseAccessPolicies(root: XmlElement | undefined): Result<readonly StoredPolicy[]> {
  return parsePolicies(root, undefined);
}

/** Like `parseAccessPolicies`, but rejects a policy with a permission letter that is not in
 *  `letters`. */
export function accessPoliciesWithin(letters: string): XmlParser<readonly StoredPolicy[]> {
  return (root) => parsePolicies(root, letters);
}

function parsePolicies(
  root: XmlElement | undefined,
  letters: string | undefined,
): Result<readonly StoredPolicy[]> {
  if (root === undefined) return ok([]);
  if (root.name !== "SignedIdentifiers") return invalidXmlAt(root.start, "");
  if (root.children.length > storedPoliciesMax) return invalidXmlAt({ line: 0, position: 0 }, "");
  const policies: StoredPolicy[] = [];
  for (const child of root.children) {
    const policy = parsePolicy(child, letters);
    if (!policy.ok) return policy;
    if (policies.some(({ id }) => id === policy.value.id)) return fail("InvalidXmlDocument");
    policies.push(policy.value);
  }
  return ok(policies);
}

function parsePolicy(child: XmlElement, letters: string | undefined): Result<StoredPolicy> {
  const id = xmlChildText(child, "Id");
  if (child.name !== "SignedIdentifier" || id === undefined) return invalidXmlAt(child.start, "");
  if (id === "" || id.length > policyIdUnitsMax) return invalidXmlAt(child.start, "");
  const policy = xmlChild(child, "AccessPolicy");
  const start = parseTime(policy, "Start");
  const expiry = parseTime(policy, "Expiry");
  if (!start.ok) return start;
  if (!expiry.ok) return expiry;
  const permission = (policy && xmlChildText(policy, "Permission")?.trim()) || undefined;
  if (letters !== undefined && permission !== undefined && !isWithin(permission, letters)) {
    return withSubject(invalidXmlAt(child.start, ""), "Permission");
  }
  return ok({ id, start: start.value, expiry: expiry.value, permission });
}

function isWithin(permission: string, letters: string): boolean {
  for (const letter of permission) if (!letters.includes(letter)) return false;
  return true;
}

function parseTime(policy: XmlElement | undefined, name: string): Result<Ticks | undefined> {
  const text = policy && xmlChildText(policy, name)?.trim();
  if (text === undefined || text === "") return ok(undefined);
  const time = parseIso(text);
  return time === undefined ? fail("InvalidXmlNodeValue", { subject: name }) : ok(time);
}

export function renderAccessPolicies(policies: readonly StoredPolicy[]): string {
  let inner = "";
  for (const { id, start, expiry, permission } of policies) {
    const fields =
      textElement("Start", start === undefined ? undefined : formatIso(start)) +
      textElement("Expiry", expiry === undefined ? undefined : formatIso(expiry)) +
      textElement("Permission", permission);
    const policy = fields === "" ? "" : element("AccessPolicy", fields);
    inner += element("SignedIdentifier", textElement("Id", id) + policy);
  }
  return element("SignedIdentifiers", inner);
}
