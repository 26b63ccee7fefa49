import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../start-refused.ts";
import type { Field, FieldReader } from "./fields.ts";

export interface ParsedContent {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly (readonly [string, string])[];
}

/** Contents of one input, in memory until they are stored. */
const contentBytesMax = 256 * 1024 * 1024;
const base64Form = /^[A-Za-z0-9+/]*={0,2}$/;
const contentNames = ["text", "base64", "file"] as const;

/** Reads the contents of blobs and files. */
export class ContentParser {
  readonly #reader: FieldReader;
  readonly #folder: string;
  #bytes = 0;

  /** `folder` is that of relative paths. */
  constructor(reader: FieldReader, folder: string) {
    this.#reader = reader;
    this.#folder = folder;
  }

  parse(field: Field, others: readonly string[]): ParsedContent | undefined {
    const reader = this.#reader;
    if (typeof field.value === "string") {
      const bytes = this.#counted(field, Buffer.from(field.value));
      return bytes && { bytes, contentType: "text/plain", metadata: {}, tags: [] };
    }
    const at = reader.object(field, [...contentNames, "contentType", "metadata", ...others]);
    const given = contentNames.filter((name) => at(name).value !== undefined);
    const [name] = given;
    if (name === undefined || given.length > 1) {
      return reader.refuse(field, 'must be a text, or have one of "text", "base64" and "file"');
    }
    const bytes = this.#bytesOf(name, at(name));
    const usualType = name === "text" ? "text/plain" : "application/octet-stream";
    const contentType = reader.text(at("contentType")) ?? usualType;
    const metadata = metadataHeaders(reader.texts(at("metadata")));
    return bytes && { bytes, contentType, metadata, tags: reader.texts(at("tags")) };
  }

  #bytesOf(kind: (typeof contentNames)[number], field: Field): Uint8Array | undefined {
    const text = this.#reader.text(field);
    if (text === undefined) return undefined;
    if (kind === "text") return this.#counted(field, Buffer.from(text));
    if (kind === "file") return this.#fromFile(field, resolve(this.#folder, text));
    if (!base64Form.test(text) || text.length % 4 !== 0) {
      return this.#reader.refuse(field, "must be base64");
    }
    return this.#counted(field, Buffer.from(text, "base64"));
  }

  #fromFile(field: Field, path: string): Uint8Array | undefined {
    try {
      if (!this.#fits(statSync(path).size)) return this.#tooLarge(field);
      return this.#counted(field, readFileSync(path));
    } catch (error) {
      return this.#reader.refuse(field, `cannot be read: ${messageOf(error)}`);
    }
  }

  #counted(field: Field, bytes: Uint8Array): Uint8Array | undefined {
    if (!this.#fits(bytes.length)) return this.#tooLarge(field);
    this.#bytes += bytes.length;
    return bytes;
  }

  #fits(length: number): boolean {
    return this.#bytes + length <= contentBytesMax;
  }

  #tooLarge(field: Field): undefined {
    return this.#reader.refuse(field, "all contents together must not exceed 256 MiB");
  }
}

export function metadataHeaders(
  pairs: readonly (readonly [string, string])[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(([name, value]) => [`x-ms-meta-${name}`, value]));
}
