import { createReadStream, existsSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../start-refused.ts";
import { ImportRefused } from "./import-refused.ts";
import { LokiScanner, type LokiDocument } from "./loki-scanner.ts";

/** A range of one of Azurite's extent files. */
export interface ExtentChunk {
  readonly id: string;
  readonly offset: number;
  readonly count: number;
}

export type ExtentKind = "blob" | "queue";

const databaseForm = /^__azurite_db_\w+__\.json$/;
const extentIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Azurite's id for zeros that are not stored. */
const zeroExtent = "*ZERO*";
const chunkBytes = 256 * 1024;
const zeros = new Uint8Array(chunkBytes);

/** Whether the folder contains a database of Azurite. */
export function holdsAzuriteData(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => databaseForm.test(name));
  } catch {
    return false;
  }
}

/** Reads an Azurite data folder without changing it. */
export class AzuriteFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The documents of the wanted collections of a service, in the order of the file; none if the
   *  service has no database. */
  async *documents(
    service: "blob" | "queue" | "table",
    isWanted: (collection: string) => boolean,
  ): AsyncIterable<LokiDocument> {
    const path = join(this.path, `__azurite_db_${service}__.json`);
    if (!existsSync(path)) return;
    const scanner = new LokiScanner(isWanted);
    try {
      for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
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
    if (!extentIdForm.test(id))
      throw new ImportRefused([`${JSON.stringify(id)} is not an extent id`]);
    const path = join(this.path, `__${kind}storage__`, id);
    let missing = count;
    try {
      const file = await open(path);
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
