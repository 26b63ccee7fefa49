import { createHash } from "node:crypto";
import type { EtagereServer } from "../../src/index.ts";
import { rawClient, type RawCall, type RawClient } from "../harness/raw-client.ts";

type Headers = Readonly<Record<string, string>>;

/** An operation that reads the source its request names. */
export interface CopyOperation {
  readonly name: string;
  readonly service: "blob" | "file";
  /** The first request that the source receives. */
  readonly asks: "HEAD" | "GET";
  readonly call: (source: string) => RawCall;
}

function operation(
  name: string,
  service: "blob" | "file",
  path: string,
  headers: Headers = {},
): CopyOperation {
  const asks = name === "Copy Blob" || name === "Copy File" ? "HEAD" : "GET";
  const call = (source: string): RawCall => {
    const all = { ...headers, "x-ms-copy-source": source };
    return { method: "PUT", path, headers: all };
  };
  return { name, service, asks, call };
}

const put = { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" };
const pages = { ...put, "x-ms-source-range": "bytes=0-511" };
const range = { ...pages, "x-ms-write": "update" };

/** Every operation with a copy source. `makeTargets` creates the targets that must exist. */
export const copyOperations: readonly CopyOperation[] = [
  operation("Copy Blob", "blob", "/ccc/copied"),
  operation("Copy Blob From URL", "blob", "/ccc/synced", { "x-ms-requires-sync": "true" }),
  operation("Put Blob From URL", "blob", "/ccc/put", { "x-ms-blob-type": "BlockBlob" }),
  operation("Put Block From URL", "blob", "/ccc/blocks?comp=block&blockid=MQ%3D%3D"),
  operation("Append Block From URL", "blob", "/ccc/append?comp=appendblock"),
  operation("Put Page From URL", "blob", "/ccc/pages?comp=page", pages),
  operation("Put Range From URL", "file", "/sss/ranges?comp=range", range),
  operation("Copy File", "file", "/sss/copied"),
];

export interface Clients {
  readonly blob: RawClient;
  readonly file: RawClient;
}

export async function makeTargets({ urls }: EtagereServer): Promise<Clients> {
  const blob = rawClient(urls.blob ?? "");
  const file = rawClient(urls.file ?? "");
  const create = async (client: RawClient, path: string, headers: Headers = {}) => {
    const { status, code } = await client.send({ method: "PUT", path, headers });
    if (status !== 201) throw new Error(`${path}: ${status} ${code}`);
  };
  await create(blob, "/ccc?restype=container");
  await create(blob, "/ccc/append", { "x-ms-blob-type": "AppendBlob" });
  const page = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" };
  await create(blob, "/ccc/pages", page);
  await create(file, "/sss?restype=share");
  await create(file, "/sss/ranges", { "x-ms-type": "file", "x-ms-content-length": "512" });
  return { blob, file };
}

/** Content of every target, which a rejected copy must not change. */
export async function contents(clients: Clients): Promise<Readonly<Record<string, string>>> {
  const { blob, file } = clients;
  const found: Record<string, string> = {};
  for (const { name, service, call } of copyOperations) {
    const [path = ""] = call("").path.split("?");
    const client = service === "blob" ? blob : file;
    const { status, body } = await client.send({ method: "GET", path });
    found[name] = status === 200 ? digestOf(body) : String(status);
  }
  return found;
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
