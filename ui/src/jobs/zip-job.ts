import { followDownload } from "../blobs/download.ts";
import { bytes } from "../format.ts";
import { failed, type Result } from "../result.ts";
import { unreachable } from "../rest/request.ts";
import { crc32 } from "./crc32.ts";
import { startJob, type Work } from "./jobs.ts";
import { ZipFile, type Bytes, type ZipEntry } from "./zip.ts";

/** A content to add: its path in the zip file, and its bytes. */
interface ZipSource {
  readonly path: string;
  readonly modifiedAt: Date;
  readonly body: ReadableStream<Bytes>;
}

interface ZipWork<Item> extends Pick<Work<Item>, "items" | "nameOf"> {
  readonly title: string;
  readonly fileName: string;
  readonly open: (item: Item, signal: AbortSignal) => Promise<Result<ZipSource>>;
}

const filesAtOnceMax = 3;
/** Bytes collected in the heap before they are handed to the browser. */
const stagedBytesMax = 4 * 1024 * 1024;
const zipBytesMax = 8 * 1024 ** 3;

/** Starts a job that reads contents and saves them as one zip file. */
export function downloadZip<Item>(work: ZipWork<Item>): void {
  const zip = new ZipFile();
  startJob<Item>({
    title: work.title,
    items: work.items,
    nameOf: work.nameOf,
    atOnceMax: filesAtOnceMax,
    run: async (item, { signal }) => {
      if (zip.byteCount > zipBytesMax) return failed(tooLarge);
      const source = await work.open(item, signal);
      if (!source.ok) return source;
      const staged = await stage(source.value);
      if (staged.ok) zip.add(staged.value);
      return staged;
    },
    finish: () => {
      const file = zip.finish();
      const url = URL.createObjectURL(file);
      followDownload(url, work.fileName);
      setTimeout(() => URL.revokeObjectURL(url), revokeMilliseconds);
      return `${work.fileName}, ${bytes(file.size)}`;
    },
    onDone: () => {},
  });
}

/** Time in which the browser must have begun the download. */
const revokeMilliseconds = 60_000;

const tooLarge = {
  status: 413,
  code: "ZipTooLarge",
  message: `A zip file has at most ${bytes(zipBytesMax)}. Download the rest separately`,
};

/** A path that stays inside the folder in which the zip file is unpacked. */
function safePath(path: string): string {
  const isUnsafe = (segment: string): boolean => segment === "" || /^\.\.?$/.test(segment);
  const segments = path.split("/");
  return segments.map((segment) => (isUnsafe(segment) ? "_" : segment)).join("/");
}

/** Reads a content to the end. Only then is its entry complete. */
async function stage({ path, modifiedAt, body }: ZipSource): Promise<Result<ZipEntry>> {
  const parts: (Bytes | Blob)[] = [];
  let waiting: Bytes[] = [];
  let waitingBytes = 0;
  let byteCount = 0;
  let checksum = 0;
  const handOver = (): void => {
    parts.push(new Blob(waiting));
    waiting = [];
    waitingBytes = 0;
  };
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const { value } = read;
      waiting.push(value);
      waitingBytes += value.byteLength;
      byteCount += value.byteLength;
      checksum = crc32(value, checksum);
      if (waitingBytes >= stagedBytesMax) handOver();
    }
  } catch (error) {
    return failed(unreachable(error));
  }
  parts.push(...waiting);
  return { ok: true, value: { name: safePath(path), modifiedAt, checksum, byteCount, parts } };
}
