import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** A file of the explorer, ready to be sent. */
export interface PageFile {
  readonly type: string;
  readonly etag: string;
  /** Whether the name contains a hash of the content: then browsers may cache the file for ever. */
  readonly isHashed: boolean;
  readonly plain: Uint8Array;
  readonly brotli: Uint8Array;
  readonly gzip: Uint8Array;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
};

const filesMax = 500;
const fileBytesMax = 4 * 1024 * 1024;
const startFile = "index.html";
const hashedName = /-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;
/** Compression level. Levels 10 and 11 take a hundred times longer and save little. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** The files of the explorer, read and compressed once per build. */
export class PageFiles {
  readonly #folder: string;
  #builtAt = 0;
  #files: ReadonlyMap<string, PageFile> = new Map();
  #loading: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The file for a URL path; undefined if there is none. */
  async find(path: string): Promise<PageFile | undefined> {
    const name = path === "/" ? startFile : path.slice(1);
    if (name === startFile || this.#builtAt === 0) await this.#refresh();
    return this.#files.get(name);
  }

  async #refresh(): Promise<void> {
    const built = await stat(join(this.#folder, startFile)).catch(() => undefined);
    const builtAt = built?.mtimeMs ?? 0;
    if (builtAt === this.#builtAt) return;
    this.#loading ??= this.#load(builtAt).finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #load(builtAt: number): Promise<void> {
    this.#files = builtAt === 0 ? new Map() : await readFiles(this.#folder);
    this.#builtAt = builtAt;
  }
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, PageFile>();
  for (const entry of entries) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined || files.size >= filesMax) continue;
    const path = join(entry.parentPath, entry.name);
    const plain = await readFile(path);
    if (plain.length > fileBytesMax) continue;
    const name = relative(folder, path).split(sep).join("/");
    files.set(name, await prepare(name, type, plain));
  }
  return files;
}

async function prepare(name: string, type: string, plain: Uint8Array): Promise<PageFile> {
  const digest = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
  const [brotli, zipped] = await Promise.all([
    compressBrotli(plain, brotliOptions),
    compressGzip(plain),
  ]);
  return {
    type,
    etag: `"${digest}"`,
    isHashed: hashedName.test(name),
    plain,
    brotli,
    gzip: zipped,
  };
}
