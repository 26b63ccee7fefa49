import { bodyTooLarge, invalidXml, missingXmlNode } from "../../protocol/faults.ts";
import type { XmlParser } from "../../operation/operation.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { xmlChildText, type XmlElement } from "../../encoding/xml.ts";

/** Limit of a message text, in bytes of UTF-8. */
const messageBytesMax = 64 * 1024;
/** Upper bound of the growth of a text by XML escapes. */
const escapeFactorMax = 8;
export const messageBodyBytesMax = escapeFactorMax * messageBytesMax;

/** Parses the body of Put Message. The text is stored unchanged: client libraries encode and decode
 *  Base64 themselves. */
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

/** Parses the body of Update Message; undefined without a body, in which case the text does not
 *  change. */
export const parseMessageUpdate: XmlParser<string | undefined> = (root) =>
  root === undefined ? ok(undefined) : parseMessage(root);
