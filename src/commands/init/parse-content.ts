import { resolve } from "node:path";
import { readRegularFile } from "../../host/files.ts";
import { messageOf } from "../../host/refused.ts";

/** Readers of the input of `--init`, for `resource-steps.ts` and `init-accounts.ts`: `FieldReader`
 *  of all fields, `ContentParser` of the contents of blobs and files. */

/** A value in the input of `--init` (`InitInput`), and the path of its field
 *  (`containers.photos.access`) for error messages. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
}

const namePart = /^[A-Za-z0-9_$-]+$/;

/** Reads the JSON of `--init`. It collects the problems, each with the path of its field, instead
 *  of throwing at the first, so that a user can correct all at once. */
export class FieldReader {
  readonly problems: string[] = [];

  refuse({ path }: Field, why: string): undefined {
    this.problems.push(path === "" ? why : `${path}: ${why}`);
    return undefined;
  }

  /** The fields of an object; reports those that are not among `known`. */
  object(field: Field, known: readonly string[]): (name: string) => Field {
    const object = this.#entriesOf(field);
    for (const name of object.keys()) {
      if (!known.includes(name)) {
        this.refuse(part(field, name, undefined), `no such field; there are ${known.join(", ")}`);
      }
    }
    return (name) => part(field, name, object.get(name));
  }

  /** The entries of an object whose names the user chooses. */
  map(field: Field): readonly (readonly [string, Field])[] {
    return [...this.#entriesOf(field)].map(([name, value]) => [name, part(field, name, value)]);
  }

  list(field: Field): readonly Field[] {
    if (field.value === undefined) return [];
    if (!Array.isArray(field.value)) return this.refuse(field, "must be a list") ?? [];
    const values: readonly unknown[] = field.value;
    return values.map((value, index) => ({ path: `${field.path}[${index}]`, value }));
  }

  text(field: Field): string | undefined {
    if (field.value === undefined || typeof field.value === "string") return field.value;
    return this.refuse(field, "must be a text");
  }

  /** The entries of an object whose values must be texts: metadata or tags. */
  texts(field: Field): readonly (readonly [string, string])[] {
    return this.map(field).flatMap(([name, each]) => {
      const text = this.text(each);
      return text === undefined ? [] : [[name, text] as const];
    });
  }

  #entriesOf(field: Field): ReadonlyMap<string, unknown> {
    const { value } = field;
    if (value === undefined) return new Map();
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return new Map(Object.entries(value));
    }
    this.refuse(field, "must be an object");
    return new Map();
  }
}

function part({ path }: Field, name: string, value: unknown): Field {
  if (!namePart.test(name)) return { path: `${path}[${JSON.stringify(name)}]`, value };
  return { path: path === "" ? name : `${path}.${name}`, value };
}

/** The blob or file to create: its bytes, and what its headers say. */
export interface ParsedContent {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly (readonly [string, string])[];
}

/** Limit of the contents of one input together: they are in memory until they are stored. */
const contentBytesMax = 256 * 1024 * 1024;
const base64Form = /^[A-Za-z0-9+/]*={0,2}$/;
const contentNames = ["text", "base64", "file"] as const;

/** Reads the contents of blobs and files, given as text, as base64 or as the path of a file. */
export class ContentParser {
  readonly #reader: FieldReader;
  readonly #folder: string;
  #bytes = 0;

  /** Relative paths of files are below `folder`. */
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
      return this.#counted(field, readRegularFile(path, contentBytesMax));
    } catch (error) {
      return this.#reader.refuse(field, `cannot be read: ${messageOf(error)}`);
    }
  }

  #counted(field: Field, bytes: Uint8Array): Uint8Array | undefined {
    if (this.#bytes + bytes.length > contentBytesMax) {
      return this.#reader.refuse(field, "all contents together must not exceed 256 MiB");
    }
    this.#bytes += bytes.length;
    return bytes;
  }
}

/** Metadata as headers of the request that creates a container, blob or other resource. */
export function metadataHeaders(
  pairs: readonly (readonly [string, string])[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(([name, value]) => [`x-ms-meta-${name}`, value]));
}
