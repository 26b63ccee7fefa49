import { failed, mapped, type Result } from "../result.ts";
import {
  conditionHeaders,
  getContent,
  getProperties,
  pathOf,
  putBlob,
  type BlobAddress,
  type Condition,
} from "../rest/blob.ts";
import { request, bodyText } from "../rest/request.ts";
import { childOf, childrenOf, numberOf, parseXml, textOf } from "../rest/xml.ts";

const blockBytes = 4 * 1024 * 1024;
const blocksMax = 50_000;
const blocksAtOnceMax = 3;

interface Upload {
  readonly address: BlobAddress;
  readonly file: File;
  readonly condition: Condition;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
}

export function contentTypeOf(file: File): string {
  if (file.type !== "") return file.type;
  const known: Readonly<Record<string, string>> = {
    md: "text/markdown",
    txt: "text/plain",
    log: "text/plain",
    json: "application/json",
    csv: "text/csv",
    yml: "text/yaml",
    yaml: "text/yaml",
    ts: "text/plain",
  };
  return known[file.name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}

/** Uploads a small file in one call, a larger one in blocks. A resumed upload does not send blocks
 *  again that the service has. */
export async function uploadBlob(upload: Upload): Promise<Result<string>> {
  const { file, address, condition, signal, onProgress } = upload;
  if (file.size > blockBytes) return uploadByBlocks(upload);
  const headers = { "x-ms-blob-content-type": contentTypeOf(file) };
  const result = await putBlob(address, {
    body: file,
    headers,
    condition,
    signal,
    onSent: onProgress,
  });
  if (result.ok) onProgress(file.size);
  return result;
}

interface Block {
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

/** The blocks of a file. Their ids depend only on the file, so that blocks of an earlier attempt
 *  are recognised. */
function planBlocks(file: {
  readonly size: number;
  readonly lastModified: number;
}): readonly Block[] {
  const bytes = Math.max(blockBytes, Math.ceil(file.size / blocksMax));
  const count = Math.ceil(file.size / bytes);
  return Array.from({ length: count }, (_, index) => ({
    id: btoa(`${file.size}-${file.lastModified}-${String(index).padStart(6, "0")}`.padStart(44)),
    start: index * bytes,
    end: Math.min(file.size, (index + 1) * bytes),
  }));
}

async function uploadByBlocks(upload: Upload): Promise<Result<string>> {
  const { file, address, condition, signal, onProgress } = upload;
  const blocks = planBlocks(file);
  const there = await blockSizes(address, "uncommitted", signal);
  if (!there.ok && there.failure.status !== 404) return there;
  const known = there.ok ? there.value : new Map<string, number>();
  const missing = blocks.filter(({ id, start, end }) => known.get(id) !== end - start);
  let sentBytes = file.size - missing.reduce((sum, { start, end }) => sum + end - start, 0);
  onProgress(sentBytes);
  const sending = new Map<string, number>();
  const show = (): void => onProgress([...sending.values()].reduce((a, b) => a + b, sentBytes));
  const sent = await sendAll(missing, async (block) => {
    const result = await putBlock(upload, block, (bytes) => {
      sending.set(block.id, Math.min(bytes, block.end - block.start));
      show();
    });
    sending.delete(block.id);
    sentBytes += result.ok ? block.end - block.start : 0;
    show();
    return result;
  });
  if (!sent.ok) return sent;
  const list = blocks.map(({ id }) => `<Latest>${id}</Latest>`).join("");
  if (signal.aborted) return failed(cancelled);
  // Not with the signal: once it is sent, only the response says whether the blob exists.
  const answer = await request("blob", pathOf(address), {
    method: "PUT",
    query: { comp: "blocklist" },
    headers: { "x-ms-blob-content-type": contentTypeOf(file), ...conditionHeaders(condition) },
    body: `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`,
  });
  return mapped(answer, ({ headers }) => headers.get("etag") ?? "");
}

const cancelled = { status: 0, code: "Cancelled", message: "Cancelled" };

/** Whether the existing blob has the contents of a file: then an earlier attempt has stored it. */
export async function isUploaded(address: BlobAddress, file: File): Promise<boolean> {
  const state = await getProperties(address);
  if (!state.ok || state.value.length !== file.size) return false;
  if (file.size <= blockBytes) {
    const content = await getContent(address, { bytesMax: Math.max(1, file.size) });
    if (!content.ok) return false;
    const own = new Uint8Array(await file.arrayBuffer());
    return own.every((byte, index) => byte === content.value.bytes[index]);
  }
  const there = await blockSizes(address, "committed");
  const planned = planBlocks(file).map(({ id }) => id);
  return there.ok && [...there.value.keys()].join() === planned.join();
}

function putBlock(
  { address, file, signal }: Upload,
  block: Block,
  onSent: (bytes: number) => void,
): Promise<Result<unknown>> {
  return request("blob", pathOf(address), {
    method: "PUT",
    query: { comp: "block", blockid: block.id },
    body: file.slice(block.start, block.end),
    signal,
    onSent,
  });
}

async function sendAll(
  blocks: readonly Block[],
  send: (block: Block) => Promise<Result<unknown>>,
): Promise<Result<undefined>> {
  let next = 0;
  let wrong: Result<undefined> | undefined;
  const work = async (): Promise<void> => {
    for (let block = blocks[next]; block !== undefined && !wrong; block = blocks[next]) {
      next += 1;
      const result = await send(block);
      if (!result.ok) wrong = result;
    }
  };
  await Promise.all(Array.from({ length: blocksAtOnceMax }, work));
  return wrong ?? { ok: true, value: undefined };
}

async function blockSizes(
  address: BlobAddress,
  which: "committed" | "uncommitted",
  signal?: AbortSignal,
): Promise<Result<ReadonlyMap<string, number>>> {
  const query = { comp: "blocklist", blocklisttype: which };
  const answer = await request("blob", pathOf(address), { query, signal });
  if (!answer.ok) return answer;
  const root = parseXml(bodyText(answer.value));
  const blocks = childrenOf(
    childOf(root, which === "committed" ? "CommittedBlocks" : "UncommittedBlocks"),
    "Block",
  );
  const sizes = blocks.map((block): [string, number] => [
    textOf(block, "Name") ?? "",
    numberOf(block, "Size") ?? 0,
  ]);
  return { ok: true, value: new Map(sizes) };
}
