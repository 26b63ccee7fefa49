import { decodeXmlText, firstIllegalCharacter, withLineFeeds } from "./xml-entities.ts";
import type { XmlElement, XmlLocation } from "./xml.ts";

/** The XML parser behind `xml.ts`. Own code, because faults must report the line and position that
 *  Azure reports, and because a block list of 6 MB must be read in steps that do not block the
 *  event loop. */

/** Deepest nesting of elements. No request of Azure has 10 levels; a deeper document would be an
 *  attack. */
const depthMax = 64;
/** Far more elements than a block list may have blocks (50,000), so that a list that is too long
 *  gets the fault for its length and not an XML fault. */
const elementsMax = 200_000;
/** Longest text between two tags, in UTF-16 code units. The longest valid text is a message of 64
 *  KiB with every character written as an entity. */
const textUnitsMax = 512 * 1024;

/** An element whose end tag has not been read yet. */
interface OpenElement {
  readonly qualifiedName: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  children: XmlElement[];
  readonly start: XmlLocation;
  text: string;
  end: XmlLocation;
}

/** State of a parser that can stop and continue, so that a long document does not block the event
 *  loop (`parseXmlInSteps`). */
interface Reader {
  readonly text: string;
  /** Whether the document has no entity, carriage return or `]]>`, so text needs no decoding. */
  readonly isPlain: boolean;
  at: number;
  readonly open: OpenElement[];
  /** The root element. Undefined until its end tag was read. */
  root: XmlElement | undefined;
  elements: number;
  // The line of the last offset that `locationAt` was called for: its number, its start, and its
  // end.
  line: number;
  lineStart: number;
  nextNewline: number;
  /** Offset at which the document is malformed, or -1; undefined while it is read. */
  failedAt: number | undefined;
  /** Local names by qualified name, so that a name with a prefix or digits is validated once. */
  readonly localNames: Map<string, string>;
}

const noAttributes: Readonly<Record<string, string>> = {};
/** Shared by all elements without children, as most elements of a block list. Never modified. */
const noChildren: XmlElement[] = [];
const whitespaceOnly = /^[ \t\r\n]*$/;

/** The root element, or the location at which the document is malformed. */
export type ReadDocument = { readonly root: XmlElement } | XmlLocation;

/** Reads a whole document at once; long ones are read in steps (`beginDocument`). */
export function readDocument(text: string): ReadDocument {
  const reading = beginDocument(text);
  readSome(reading, Infinity);
  return endDocument(reading, firstIllegalCharacter(text));
}

/** Starts a parser that reads in steps: `readSome` until it returns true, then `endDocument`. */
export function beginDocument(text: string): Reader {
  return {
    text,
    isPlain: !text.includes("&") && !text.includes("\r") && !text.includes("]]>"),
    at: 0,
    open: [],
    root: undefined,
    elements: 0,
    line: 1,
    lineStart: 0,
    nextNewline: newlineFrom(text, 0),
    localNames: new Map(),
    failedAt: undefined,
  };
}

/** Returns the result of the parser, after `readSome` has returned true. `illegalAt` is the offset
 *  of the first character that XML does not allow, or -1. */
export function endDocument(reader: Reader, illegalAt: number): ReadDocument {
  const { text, failedAt = text.length } = reader;
  const illegalFirst = failedAt === -1 || (illegalAt !== -1 && illegalAt < failedAt);
  const faultAt = illegalFirst ? illegalAt : failedAt;
  if (faultAt !== -1) return locationFromStart(text, faultAt);
  return reader.root === undefined ? { line: 1, position: 1 } : { root: reader.root };
}

/** Reads up to `tagsMax` more tags, so that the caller can let other requests run. Returns true at
 *  the end of the document or at an error. */
export function readSome(reader: Reader, tagsMax: number): boolean {
  const failedAt = readTags(reader, tagsMax);
  if (failedAt === undefined) return false;
  reader.failedAt = failedAt;
  return true;
}

/** Returns the offset at which the document is malformed, -1 at its end, `undefined` before it. */
function readTags(reader: Reader, tagsMax: number): number | undefined {
  const { text } = reader;
  if (reader.at === 0 && text.startsWith("<?xml") && /^<\?xml[ \t\r\n]/.test(text)) {
    const end = text.indexOf("?>");
    if (end === -1) return 0;
    reader.at = end + 2;
  }
  for (let tags = 0; reader.at < text.length; tags += 1) {
    if (tags >= tagsMax) return undefined;
    const tag = text.indexOf("<", reader.at);
    const end = tag === -1 ? text.length : tag;
    const badText = end > reader.at ? readText(reader, end) : -1;
    if (badText !== -1) return badText;
    if (tag === -1) break;
    const failedAt = readMarkup(reader, tag);
    if (failedAt !== -1) return failedAt;
  }
  return reader.open.length > 0 || reader.root === undefined ? text.length : -1;
}

function readText(reader: Reader, end: number): number {
  const start = reader.at;
  if (end - start > textUnitsMax) return start;
  const raw = reader.text.slice(start, end);
  reader.at = end;
  const element = reader.open.at(-1);
  if (element === undefined) return whitespaceOnly.test(raw) ? -1 : start;
  if (reader.isPlain) {
    element.text = element.text === "" ? raw : element.text + raw;
    return -1;
  }
  const cdataEnd = raw.indexOf("]]>");
  if (cdataEnd !== -1) return start + cdataEnd;
  const decoded = decodeXmlText(raw);
  if (typeof decoded === "number") return start + decoded;
  element.text += decoded;
  return -1;
}

function readMarkup(reader: Reader, tag: number): number {
  const { text } = reader;
  switch (text[tag + 1]) {
    case "/":
      return readEndTag(reader, tag);
    case "?":
      if (text.slice(tag, tag + 5).toLowerCase() === "<?xml") return tag;
      return skipTo(reader, tag, "?>");
    case "!":
      if (text.startsWith("<!--", tag)) return skipComment(reader, tag);
      return text.startsWith("<![CDATA[", tag) ? readCdata(reader, tag) : tag;
    default:
      return readStartTag(reader, tag);
  }
}

function readStartTag(reader: Reader, tag: number): number {
  const { text, open } = reader;
  if (open.length >= depthMax || reader.elements >= elementsMax) return tag;
  if (open.length === 0 && reader.root !== undefined) return tag;
  const nameEnd = endOfName(text, tag + 1);
  const qualifiedName = text.slice(tag + 1, nameEnd);
  const name = localNameOf(reader, qualifiedName);
  if (name === undefined) return tag + 1;
  const start = locationAt(reader, tag + 1);
  let attributes = noAttributes;
  let at = nameEnd;
  if (text[at] !== ">" && text[at] !== "/") {
    const read = readAttributes(text, at);
    if (typeof read === "number") return read;
    ({ attributes, at } = read);
  }
  const closed = text[at] === "/";
  if (closed) at += 1;
  if (text[at] !== ">") return at;
  reader.elements += 1;
  reader.at = at + 1;
  const children = noChildren;
  const element = { qualifiedName, name, attributes, children, start, text: "", end: start };
  if (closed) closeElement(reader, element);
  else open.push(element);
  return -1;
}

function readEndTag(reader: Reader, tag: number): number {
  const { text, open } = reader;
  const element = open.at(-1);
  if (element === undefined) return tag;
  if (!text.startsWith(element.qualifiedName, tag + 2)) return tag + 2;
  let at = tag + 2 + element.qualifiedName.length;
  while (isSpace(text.charCodeAt(at))) at += 1;
  if (text[at] !== ">") return tag + 2;
  element.end = locationAt(reader, tag + 2);
  open.pop();
  reader.at = at + 1;
  closeElement(reader, element);
  return -1;
}

function closeElement(reader: Reader, element: OpenElement): void {
  const parent = reader.open.at(-1);
  if (parent === undefined) reader.root = element;
  else if (parent.children === noChildren) parent.children = [element];
  else parent.children.push(element);
}

function readCdata(reader: Reader, tag: number): number {
  const element = reader.open.at(-1);
  const end = reader.text.indexOf("]]>", tag);
  if (element === undefined || end === -1 || end - tag > textUnitsMax) return tag;
  element.text += withLineFeeds(reader.text.slice(tag + "<![CDATA[".length, end));
  reader.at = end + 3;
  return -1;
}

function skipComment(reader: Reader, tag: number): number {
  const end = reader.text.indexOf("--", tag + 4);
  if (end === -1 || reader.text[end + 2] !== ">") return tag;
  reader.at = end + 3;
  return -1;
}

function skipTo(reader: Reader, tag: number, closing: string): number {
  const end = reader.text.indexOf(closing, tag + 2);
  if (end === -1) return tag;
  reader.at = end + closing.length;
  return -1;
}

const namePattern =
  /^[\p{L}_][\p{L}\p{N}\p{M}_.\-\u00B7]*(?::[\p{L}_][\p{L}\p{N}\p{M}_.\-\u00B7]*)?$/u;
/** Most distinct names in a document, without those of letters only. It bounds the cache
 *  `localNames`. */
const distinctNamesMax = 10_000;

const lettersOnly = /^[A-Za-z]+$/;

/** The part of a name after the namespace prefix; undefined if the name is malformed. */
function localNameOf(reader: Reader, qualifiedName: string): string | undefined {
  if (lettersOnly.test(qualifiedName)) return qualifiedName;
  const known = reader.localNames.get(qualifiedName);
  if (known !== undefined) return known;
  if (!namePattern.test(qualifiedName) || reader.localNames.size >= distinctNamesMax)
    return undefined;
  const local = qualifiedName.slice(qualifiedName.indexOf(":") + 1);
  reader.localNames.set(qualifiedName, local);
  return local;
}

function endOfName(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x3e || code === 0x2f || code === 0x3c || isSpace(code)) break;
  }
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** The line and position of an offset. Offsets must not decrease from call to call, so that each
 *  line is counted once. */
function locationAt(reader: Reader, offset: number): XmlLocation {
  while (reader.nextNewline < offset) {
    reader.line += 1;
    reader.lineStart = reader.nextNewline + 1;
    reader.nextNewline = newlineFrom(reader.text, reader.lineStart);
  }
  return { line: reader.line, position: offset - reader.lineStart + 1 };
}

function locationFromStart(text: string, offset: number): XmlLocation {
  const before = text.slice(0, offset);
  const lines = before.split("\n");
  return { line: lines.length, position: offset - (before.lastIndexOf("\n") + 1) + 1 };
}

function newlineFrom(text: string, from: number): number {
  const found = text.indexOf("\n", from);
  return found === -1 ? text.length : found;
}

// Limits of this server, beyond which attributes are malformed: how many an element has, and the
// UTF-16 code units of one value as it is written.
const attributesMax = 32;
const attributeUnitsMax = 64 * 1024;
const attributePattern =
  /[ \t\r\n]+([\p{L}_][\p{L}\p{N}\p{M}_.\-:]*)[ \t\r\n]*=[ \t\r\n]*(?:"([^<"]*)"|'([^<']*)')/uy;

interface ReadAttributes {
  readonly attributes: Readonly<Record<string, string>>;
  /** Offset after the last attribute and the white space that follows it. */
  readonly at: number;
}

/** Parses the attributes after a tag name. Returns the offset of a malformed attribute instead, as
 *  a number. Namespace declarations are skipped, and prefixes of names removed. */
function readAttributes(text: string, from: number): ReadAttributes | number {
  const pairs = new Map<string, string>();
  const names = new Set<string>();
  // A copy of the expression: with the flag `y` it remembers its position between two calls.
  const pattern = new RegExp(attributePattern);
  pattern.lastIndex = from;
  let at = from;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const name = found[1] ?? "";
    const raw = found[2] ?? found[3] ?? "";
    if (raw.length > attributeUnitsMax) return at;
    const value = decodeXmlText(raw);
    if (typeof value === "number" || names.has(name) || names.size >= attributesMax) return at;
    names.add(name);
    if (name !== "xmlns" && !name.startsWith("xmlns:")) {
      pairs.set(name.slice(name.indexOf(":") + 1), value);
    }
    at = pattern.lastIndex;
  }
  while (isSpace(text.charCodeAt(at))) at += 1;
  return { attributes: Object.fromEntries(pairs), at };
}
