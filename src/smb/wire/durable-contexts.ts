import type { FileId } from "../response.ts";
import { ContextName, type CreateContext } from "./create-contexts.ts";
import { readFileId } from "./file-id.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** Request for a durable handle, or its reconnect; versions 1 and 2 ([MS-SMB2] 2.2.13.2). */
export type DurableContext =
  | { readonly kind: "request"; readonly version: 1 }
  | {
      readonly kind: "request";
      readonly version: 2;
      readonly milliseconds: number;
      readonly flags: number;
      readonly createGuid: string;
    }
  | { readonly kind: "reconnect"; readonly version: 1; readonly fileId: FileId }
  | {
      readonly kind: "reconnect";
      readonly version: 2;
      readonly fileId: FileId;
      readonly createGuid: string;
    };

const names: ReadonlySet<string> = new Set([
  ContextName.durable,
  ContextName.durableReconnect,
  ContextName.durable2,
  ContextName.durable2Reconnect,
]);

/** The durable context of a CREATE; undefined if there is none. Contexts that exclude each other
 *  are `malformed`, too. */
export function decodeDurable(
  contexts: readonly CreateContext[],
): DurableContext | "malformed" | undefined {
  const found = contexts.filter(({ name }) => names.has(name));
  const hasVersion2 = found.some(({ name }) => name === ContextName.durable2);
  const [first] = found;
  if (first === undefined) return undefined;
  if (found.length > 1) {
    // A version 1 request next to a version 1 reconnect is ignored ([MS-SMB2] 3.3.5.9.7).
    const reconnect = found.find(({ name }) => name === ContextName.durableReconnect);
    const others = found.filter((context) => context !== reconnect);
    const mayIgnore = others.every(({ name }) => name === ContextName.durable);
    if (reconnect === undefined || !mayIgnore || hasVersion2) return "malformed";
    return decodeOne(reconnect);
  }
  return decodeOne(first);
}

function decodeOne({ name, data }: CreateContext): DurableContext | "malformed" {
  const reader = new Reader(data);
  const context = read(name, reader);
  return reader.intact ? context : "malformed";
}

function read(name: string, reader: Reader): DurableContext {
  switch (name) {
    case ContextName.durable:
      reader.skip(16);
      return { kind: "request", version: 1 };
    case ContextName.durableReconnect:
      return { kind: "reconnect", version: 1, fileId: readFileId(reader) };
    case ContextName.durable2: {
      const milliseconds = reader.u32();
      const flags = reader.u32();
      reader.skip(8);
      const createGuid = reader.bytes(16).toString("hex");
      return { kind: "request", version: 2, milliseconds, flags, createGuid };
    }
    default: {
      const fileId = readFileId(reader);
      const createGuid = reader.bytes(16).toString("hex");
      return { kind: "reconnect", version: 2, fileId, createGuid };
    }
  }
}

export function encodeDurable(version: 1 | 2, milliseconds: number): CreateContext {
  if (version === 1) return { name: ContextName.durable, data: Buffer.alloc(8) };
  const data = new Writer(8).u32(milliseconds).u32(0).finish();
  return { name: ContextName.durable2, data };
}
