import { invalidXml } from "../protocol/faults.ts";
import type { Failure, Result } from "../protocol/result.ts";
import { ok } from "../protocol/result.ts";
import { spend, unitsPerTurnMax } from "../base/loop-share.ts";
import { beginDocument, endDocument, readDocument, readSome } from "./xml-reader.ts";
import type { ReadDocument } from "./xml-reader.ts";

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
export const xmlUnitsMax = 8 * 1024 * 1024;

/** The text the service gives for whatever its own parser refuses. */
const parseReason = "Error parsing Xml content";

/** Strict and bounded: no document type, no entities of its own, one root, every tag closed. */
export function parseXml(body: Uint8Array | string): Result<XmlElement> {
  const text = typeof body === "string" ? withoutMark(body) : decode(body);
  if (text === undefined || text.length > xmlUnitsMax) return invalidXml(1, 1, parseReason);
  return resultOf(readDocument(text));
}

/** Tags that are read in one go: some milliseconds. */
const tagsPerTurnMax = 8192;

/** As `parseXml`, in pieces: for documents as long as a list of 50,000 blocks. */
export async function parseXmlInTurns(body: Uint8Array): Promise<Result<XmlElement>> {
  const text = decode(body);
  if (text === undefined || text.length > xmlUnitsMax) return invalidXml(1, 1, parseReason);
  const reading = beginDocument(text);
  while (!readSome(reading, tagsPerTurnMax)) await spend(unitsPerTurnMax);
  await spend(unitsPerTurnMax);
  return resultOf(endDocument(reading));
}

function resultOf(read: ReadDocument): Result<XmlElement> {
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
