import { invalidXml } from "./faults.ts";
import type { Failure, Result } from "./result.ts";
import { ok } from "./result.ts";
import { readDocument } from "./xml-reader.ts";

/** Lines and positions count from 1 and point at the name, as the service reports them. */
export interface XmlPlace {
  readonly line: number;
  readonly position: number;
}

export interface XmlElement {
  /** Without a namespace prefix: the service's documents have no namespaces to tell apart. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The characters directly inside, white space included. */
  readonly text: string;
  readonly start: XmlPlace;
  readonly end: XmlPlace;
}

/** A list of 50,000 blocks with the longest ids takes some 6 MB. */
export const xmlUnitsMax = 16 * 1024 * 1024;

/** The text the service gives for whatever its own parser refuses. */
const parseReason = "Error parsing Xml content";

/** Strict and bounded: no document type, no entities of its own, one root, every tag closed. */
export function parseXml(body: Uint8Array | string): Result<XmlElement> {
  const text = typeof body === "string" ? withoutMark(body) : decode(body);
  if (text === undefined || text.length > xmlUnitsMax) return invalidXml(1, 1, parseReason);
  const read = readDocument(text);
  if ("root" in read) return ok(read.root);
  return invalidXml(read.line, read.position, parseReason);
}

/** The service objects to a value at the end tag around it (recorded for retention days). */
export function invalidXmlAt(place: XmlPlace, reason: string): Failure {
  return invalidXml(place.line, place.position, reason);
}

export function xmlChild(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((child) => child.name === name);
}

export function xmlChildren(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/** `undefined` if there is no such child, "" if it is empty. */
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
