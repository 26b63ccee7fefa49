import { invalidXml } from "../protocol/faults.ts";
import type { Failure, Result } from "../protocol/result.ts";
import { ok } from "../protocol/result.ts";
import type { LoopShare } from "../base/loop-share.ts";
import { searchIllegalCharacter } from "./xml-entities.ts";
import { beginDocument, endDocument, readDocument, readSome } from "./xml-reader.ts";
import type { ReadDocument } from "./xml-reader.ts";

/** Parses the XML body of a request into elements. `http/request/body.ts` calls it for operations
 *  with a body of the kind `xml`, which then read the elements with `xmlChild` and
 *  `xmlChildText`. */

/** A position in a document as the service reports it. Both numbers count from 1; `position` is
 *  that of the element's name. */
export interface XmlLocation {
  readonly line: number;
  readonly position: number;
}

/** A parsed element, with its location for faults. */
export interface XmlElement {
  /** Local name, without the namespace prefix: Azure's documents use no namespaces. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text directly inside the element, including white space. */
  readonly text: string;
  readonly start: XmlLocation;
  readonly end: XmlLocation;
}

/** Longest document, in UTF-16 code units: 50,000 blocks with the longest ids have 6 MB. */
const xmlUnitsMax = 8 * 1024 * 1024;

/** The reason that Azure Storage gives for every document that its parser rejects. */
const parseReason = "Error parsing Xml content";

/** Parses a document strictly: no document type, no custom entities, one root element, every tag
 *  closed. All limits are checked. */
export function parseXml(body: Uint8Array | string): Result<XmlElement> {
  const text = typeof body === "string" ? withoutMark(body) : decode(body);
  if (text === undefined || text.length > xmlUnitsMax) return invalidXml(1, 1, parseReason);
  return resultOf(readDocument(text));
}

/** Tags and characters that are read per step, and how many count as a unit of event-loop time
 *  (`base/loop-share.ts`). */
const tagsPerStepMax = 512;
const unitsPerTag = 0.25;
const charactersPerStep = 256 * 1024;
const charactersPerUnit = 4096;

/** Like `parseXml`, yielding to the event loop between steps, for long documents (block lists). */
export async function parseXmlInSteps(
  body: Uint8Array,
  loop: LoopShare,
): Promise<Result<XmlElement>> {
  const text = decode(body);
  if (text === undefined || text.length > xmlUnitsMax) return invalidXml(1, 1, parseReason);
  await loop.spend(text.length / charactersPerUnit);
  const reading = beginDocument(text);
  await loop.spend(text.length / charactersPerUnit);
  while (!readSome(reading, tagsPerStepMax)) await loop.spend(tagsPerStepMax * unitsPerTag);
  const search = searchIllegalCharacter(text, charactersPerStep);
  let found = search.next();
  for (; found.done !== true; found = search.next()) {
    await loop.spend(charactersPerStep / charactersPerUnit);
  }
  return resultOf(endDocument(reading, found.value));
}

function resultOf(read: ReadDocument): Result<XmlElement> {
  if ("root" in read) return ok(read.root);
  return invalidXml(read.line, read.position, parseReason);
}

/** The fault for an invalid element at this location. Azure Storage reports an invalid value at the
 *  end tag of its element (recorded from Azure for retention days). */
export function invalidXmlAt(location: XmlLocation, reason: string): Failure {
  return invalidXml(location.line, location.position, reason);
}

export function xmlChild(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((child) => child.name === name);
}

/** Text of a child; `undefined` if there is no child of this name, "" if it is empty. */
export function xmlChildText(element: XmlElement, name: string): string | undefined {
  return xmlChild(element, name)?.text;
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}
