import { noETag } from "../../operation/operation.ts";
import { formatHttpDate } from "../../base/dates.ts";
import { ticksPerSecond } from "../../base/ticks.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { invalidXmlAt, xmlChildText, type XmlElement } from "../../encoding/xml.ts";
import { invalidXmlNode, missingXmlNode } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { every } from "../../protocol/roles/role.ts";
import { operation } from "../resources.ts";

/** Create Session: short-lived keys for clients with a bearer token, which then sign their requests
 *  instead of sending the token each time. */

/** Limit of this server for the request body, which names only the type of the session. */
const requestBytesMax = 64 * 1024;
/** Lifetime of a session: five minutes, as in Azure's documentation. */
const sessionSeconds = 300n;
/** The only type of sessions: requests are signed with the key of the session. */
const authenticationType = "HMAC";

/** Creates credentials for reading a container.
 *  learn.microsoft.com/rest/api/storageservices/create-session */
export const createSession = operation({
  name: "Create Session",
  ids: ["Container_CreateSession"],
  route: {
    method: "POST",
    resource: "container",
    query: { restype: "container", comp: "session" },
  },
  since: "2026-06-06",
  body: { kind: "xml", bytesMax: requestBytesMax, parse: parseRequest },
  permission: {
    resourceType: "c",
    bearerOnly: true,
    actions: every("blobServices/containers/blobs/read"),
  },
  target: "must-exist",
  ...noETag,
  effect: "reads",
  status: 201,
  decide: ({ now, address, delegate, newGuid }) => {
    const expiry = now + sessionSeconds * ticksPerSecond;
    const session = delegate?.session({ container: address.container, expiry });
    if (session === undefined) return fail("AuthenticationFailed");
    const credentials =
      textElement("SessionToken", session.token) + textElement("SessionKey", session.key);
    const inner =
      textElement("Id", newGuid()) +
      textElement("AuthenticationType", authenticationType) +
      textElement("Expiration", formatHttpDate(expiry)) +
      element("Credentials", credentials);
    return { body: xmlBody(element("CreateSessionResult", inner)) };
  },
});

function parseRequest(root: XmlElement | undefined): Result<undefined> {
  if (root === undefined) return fail("InvalidXmlDocument");
  if (root.name !== "CreateSessionRequest") return invalidXmlAt(root.start, "");
  const type = xmlChildText(root, "AuthenticationType")?.trim();
  if (type === undefined) return missingXmlNode("AuthenticationType");
  return type === authenticationType ? ok(undefined) : invalidXmlNode("AuthenticationType", type);
}
