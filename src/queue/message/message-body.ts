import { bodyTooLarge, invalidXml, missingXmlNode } from "../../protocol/faults.ts";
import type { XmlParser } from "../../operation/operation.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { xmlChildText, type XmlElement } from "../../encoding/xml.ts";

/** Of the text, as UTF-8. */
export const messageBytesMax = 64 * 1024;
/** A text of nothing but escaped characters is this much longer on the wire. */
const escapeFactorMax = 8;
export const messageBodyBytesMax = escapeFactorMax * messageBytesMax;

/** The text as it is: Base64 is the client libraries' business. */
function parseMessage(root: XmlElement): Result<string> {
  if (root.name !== "QueueMessage") {
    return invalidXml(root.start.line, root.start.position, "");
  }
  const text = xmlChildText(root, "MessageText");
  if (text === undefined) return missingXmlNode("MessageText");
  return Buffer.byteLength(text) > messageBytesMax ? bodyTooLarge(messageBytesMax) : ok(text);
}

export const parseNewMessage: XmlParser<string> = (root) =>
  root === undefined ? invalidXml(0, 0, "Root element is missing.") : parseMessage(root);

/** Without a body an update leaves the text alone. */
export const parseMessageUpdate: XmlParser<string | undefined> = (root) =>
  root === undefined ? ok(undefined) : parseMessage(root);
