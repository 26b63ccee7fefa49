import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { namesIn } from "../../process/folder-listing.ts";
import { openFileInside } from "../../host/files.ts";
import { messageOf, ImportRefused } from "../../host/refused.ts";
import { readFile, writeFile } from "node:fs/promises";
import { isObject } from "../../account/field-table.ts";

/** Reads the data folder of Azurite, Microsoft's emulator: databases of LokiJS (one JSON file per
 *  service), and extent files with the bytes of blobs and messages. */

/** Characters that the JSON scanner looks for. */
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Nesting depths in `{ "collections": [ { "name": …, "data": [ {document}, … ] } ] }`. */
const collectionDepth = 3;
const documentDepth = 5;

/** Limit of a document, which is in memory as a whole. That of a blob with 50,000 blocks, the most
 *  that a blob can have, takes about 20 MiB. */
const documentBytesMax = 128 * 1024 * 1024;
/** Limit of a name or a text directly inside a collection, also in memory as a whole. */
const tokenBytesMax = 64 * 1024;

/** A document of a database: a container, a blob, a message or an entity, for example. */
export interface LokiDocument {
  readonly collection: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Extracts the documents from a LokiJS file, which is one JSON value, chunk by chunk: the file may
 *  be larger than memory, a document may not. Everything else is skipped. */
export class LokiScanner {
  readonly #isWanted: (collection: string) => boolean;
  readonly #bytesMax: number;
  #depth = 0;
  #hasBegun = false;
  #isInString = false;
  #isEscaped = false;
  #key = "";
  #collection = "";
  #token: Buffer[] | undefined;
  #document: Buffer[] | undefined;
  #keptBytes = 0;

  constructor(isWanted: (collection: string) => boolean, bytesMax = documentBytesMax) {
    this.#isWanted = isWanted;
    this.#bytesMax = bytesMax;
  }

  /** Whether the JSON value is complete; false at the end of a truncated or empty file. */
  get isComplete(): boolean {
    return this.#hasBegun && this.#depth === 0 && !this.#isInString;
  }

  /** Reads the next chunk of the file. Returns the documents that end in the chunk. */
  scan(chunk: Buffer): LokiDocument[] {
    const found: LokiDocument[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) {
          this.#isInString = false;
          if (this.#token !== undefined) this.#endToken(chunk.subarray(from, at + 1));
        }
        continue;
      }
      if (byte === quote) {
        this.#isInString = true;
        if (this.#depth !== collectionDepth) continue;
        this.#token = [];
        from = at;
      } else if (byte === openBrace || byte === openBracket) {
        this.#hasBegun = true;
        this.#depth += 1;
        if (!this.#isDocumentStart(byte)) continue;
        this.#document = [];
        from = at;
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#document === undefined || this.#depth >= documentDepth) {
          if (this.#depth < collectionDepth) this.#collection = "";
          continue;
        }
        found.push(this.#endDocument(chunk.subarray(from, at + 1)));
      }
    }
    this.#keep(chunk.subarray(from));
    return found;
  }

  #isDocumentStart(byte: number): boolean {
    const isInData = this.#depth === documentDepth && byte === openBrace && this.#key === "data";
    return isInData && this.#isWanted(this.#collection);
  }

  /** Ends a string directly inside a collection: a field's name, or the value of a field. */
  #endToken(last: Buffer): void {
    const token: unknown = JSON.parse(Buffer.concat([...(this.#token ?? []), last]).toString());
    this.#token = undefined;
    this.#keptBytes = 0;
    if (this.#key === "name" && this.#collection === "") {
      this.#collection = String(token);
      this.#key = "";
    } else {
      this.#key = String(token);
    }
  }

  #endDocument(last: Buffer): LokiDocument {
    const text = Buffer.concat([...(this.#document ?? []), last]).toString();
    this.#document = undefined;
    this.#keptBytes = 0;
    return { collection: this.#collection, fields: JSON.parse(text) as LokiDocument["fields"] };
  }

  /** Keeps the part of a document or token that continues in the next chunk. */
  #keep(rest: Buffer): void {
    const parts = this.#document ?? this.#token;
    if (parts === undefined) return;
    this.#keptBytes += rest.length;
    const bytesMax = this.#document === undefined ? tokenBytesMax : this.#bytesMax;
    if (this.#keptBytes > bytesMax) throw new RangeError(`a document exceeds ${bytesMax} bytes`);
    parts.push(Buffer.from(rest));
  }
}

/** A range of one of Azurite's extent files, with bytes of a blob or message. */
export interface ExtentChunk {
  readonly id: string;
  readonly offset: number;
  readonly count: number;
}

type ExtentKind = "blob" | "queue";
type AzuriteService = ExtentKind | "table";

const databaseForm = /^__azurite_db_\w+__\.json$/;
const extentIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Azurite's id for zeros that are not stored. */
const zeroExtent = "*ZERO*";
const chunkBytes = 256 * 1024;
const zeros = new Uint8Array(chunkBytes);

/** Name of the file with the records of a service. */
export function databaseName(service: AzuriteService): string {
  return `__azurite_db_${service}__.json`;
}

export function isDatabaseName(name: string): boolean {
  return databaseForm.test(name);
}

export function isExtentId(text: string): boolean {
  return extentIdForm.test(text);
}

/** Whether a folder contains a database of Azurite; false if it cannot be read. */
function holdsAzuriteData(folder: string): boolean {
  try {
    return namesIn(folder).some(isDatabaseName);
  } catch {
    return false;
  }
}

/** Reads an Azurite data folder without changing it. */
export class AzuriteFolder {
  readonly path: string;

  /** Throws `ImportRefused` if the folder contains no data of Azurite. */
  constructor(path: string) {
    if (!holdsAzuriteData(path)) {
      throw new ImportRefused([`${path}: no Azurite data (__azurite_db_*.json) found`]);
    }
    this.path = path;
  }

  /** The documents of the wanted collections of a service, in the order of the file; none if the
   *  service has no database. */
  async *documents(
    service: AzuriteService,
    isWanted: (collection: string) => boolean,
  ): AsyncIterable<LokiDocument> {
    const path = join(this.path, databaseName(service));
    if (!existsSync(path)) return;
    const scanner = new LokiScanner(isWanted);
    try {
      const file = await openFileInside(this.path, path);
      for await (const chunk of file.createReadStream({ highWaterMark: chunkBytes })) {
        yield* scanner.scan(chunk as Buffer);
      }
    } catch (error) {
      throw new ImportRefused([`${path} cannot be read: ${messageOf(error)}`], error);
    }
    if (!scanner.isComplete) throw new ImportRefused([`${path} is truncated`]);
  }

  /** The bytes of a chunk. Throws `ImportRefused` if the extent is too short. */
  async *bytes(kind: ExtentKind, { id, offset, count }: ExtentChunk): AsyncIterable<Uint8Array> {
    if (count === 0) return;
    if (id === zeroExtent) {
      yield* zeroBytes(count);
      return;
    }
    // The id becomes a file name: another form could name a file outside the folder.
    if (!isExtentId(id)) throw new ImportRefused([`${JSON.stringify(id)} is not an extent id`]);
    const path = join(this.path, `__${kind}storage__`, id);
    let missing = count;
    try {
      const file = await openFileInside(this.path, path);
      try {
        while (missing > 0) {
          const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, missing));
          const at = offset + count - missing;
          const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
          if (bytesRead === 0) break;
          missing -= bytesRead;
          yield buffer.subarray(0, bytesRead);
        }
      } finally {
        await file.close();
      }
    } catch (error) {
      throw new ImportRefused([`${path} cannot be read: ${messageOf(error)}`], error);
    }
    if (missing > 0) throw new ImportRefused([`${path} is ${missing} bytes too short`]);
  }
}

export function isZeroExtent({ id }: ExtentChunk): boolean {
  return id === zeroExtent;
}

function* zeroBytes(count: number): Iterable<Uint8Array> {
  for (let left = count; left > 0; left -= chunkBytes) yield zeros.subarray(0, left);
}

/** A file in the data folder that names the Azurite folder that was imported into it last. */
const markName = "azurite-import.json";

export async function markImported(location: string, folder: string): Promise<void> {
  const text = `${JSON.stringify({ folder: resolve(folder) })}\n`;
  await writeFile(join(location, markName), text, { mode: 0o600 });
}

/** Returns `folder` if it contains Azurite data and is not the folder that was last imported into
 *  `location`. A starting server then reminds the user of it. */
export async function unimportedFolder(
  location: string,
  folder: string,
): Promise<string | undefined> {
  if (!holdsAzuriteData(folder)) return undefined;
  try {
    const mark: unknown = JSON.parse(await readFile(join(location, markName), "utf8"));
    return isObject(mark) && mark["folder"] === resolve(folder) ? undefined : folder;
  } catch {
    return folder;
  }
}
