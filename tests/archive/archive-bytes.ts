import { readFile } from "node:fs/promises";
import type { ServerArchives } from "../../src/commands/archive/server-archives.ts";

/** Bytes as a stream of chunks. */
export async function* streamOf(
  bytes: Uint8Array,
  chunkBytes = 65_536,
): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    yield bytes.subarray(from, from + chunkBytes);
  }
}

export async function* streamOfFile(path: string): AsyncGenerator<Uint8Array> {
  yield* streamOf(await readFile(path));
}

/** The whole archive of all accounts. */
export async function exportBytes(
  archives: ServerArchives,
  accounts: readonly string[] = [],
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const sink = (bytes: Uint8Array): void => void chunks.push(new Uint8Array(bytes));
  await archives.export({ accounts, withKeys: false, sink });
  return Buffer.concat(chunks);
}
