import { entriesIn } from "../../process/folder-listing.ts";
import type { AdminResponse } from "../admin-response.ts";
import type { AdminRequest } from "../request.ts";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Serves the explorer, the web page of the admin listener, from the folder of its build. */

/** Only resources of this server, no inline scripts or styles, and no embedding in frames. Names of
 *  blobs come from clients, so that a mistake in the page could run their scripts. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  // For the PDF viewer of the browser. The page itself sets the type of the content.
  "frame-src blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const pageHeaders = {
  "Content-Security-Policy": contentSecurityPolicy,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;

const yearSeconds = 31_536_000;

/** Serves a file of the explorer; undefined if there is none of that name. */
export async function servePage(
  files: PageFiles,
  { path, headers }: Pick<AdminRequest, "path" | "headers">,
): Promise<AdminResponse | undefined> {
  const file = await files.find(path);
  if (file === undefined) return path === "/" ? notBuilt : undefined;
  const cached = file.isHashed ? `public, max-age=${yearSeconds}, immutable` : "no-cache";
  const common = { ...pageHeaders, ETag: file.etag, "Cache-Control": cached };
  if (headers["if-none-match"] === file.etag) return { status: 304, headers: common };
  const { encoding, body } = await encoded(file, headers["accept-encoding"]);
  return {
    status: 200,
    headers: {
      ...common,
      "Content-Type": file.type,
      Vary: "Accept-Encoding",
      ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
    },
    body,
  };
}

async function encoded(file: PageFile, accepted: string | string[] | undefined) {
  const list = String(accepted ?? "");
  const encoding = (["br", "gzip"] as const).find((name) => new RegExp(`\\b${name}\\b`).test(list));
  return { encoding, body: encoding === undefined ? file.plain : await file.compressed(encoding) };
}

const notBuilt: AdminResponse = {
  status: 200,
  headers: {
    ...pageHeaders,
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
  },
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Etagere</title>
<h1>Etagere is running</h1>
<p>The explorer has not been built: run <code>npm run build</code> in the checkout, then load this
page again.</p>
<p><a href="/admin/v1/server">Server</a>, <a href="/admin/v1/leases">leases</a>,
<a href="/metrics">metrics</a></p>
</html>
`,
};

/** A file of the explorer, ready to be sent. */
interface PageFile {
  readonly type: string;
  readonly etag: string;
  /** Whether the name contains a hash of the content: then browsers may cache the file for ever. */
  readonly isHashed: boolean;
  readonly plain: Uint8Array;
  /** Compressed when it is first requested, and kept. */
  compressed(encoding: ContentEncoding): Promise<Uint8Array>;
}

type ContentEncoding = "br" | "gzip";

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

/** Bound memory, because all files are kept there; a build has far fewer and smaller ones. */
const filesMax = 500;
const fileBytesMax = 4 * 1024 * 1024;
const startFile = "index.html";
const hashedName = /-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;
/** Levels 10 and 11 would take a hundred times longer, and save little. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** The explorer's files in memory, read again when the start page is requested after a build. */
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
  const entries = await entriesIn(folder, { isDeep: true });
  const files = new Map<string, PageFile>();
  for (const entry of entries) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined || files.size >= filesMax) continue;
    const path = join(entry.parentPath, entry.name);
    const plain = await readFile(path);
    if (plain.length > fileBytesMax) continue;
    const name = relative(folder, path).split(sep).join("/");
    files.set(name, prepare(name, type, plain));
  }
  return files;
}

function prepare(name: string, type: string, plain: Uint8Array): PageFile {
  const digest = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
  const kept = new Map<ContentEncoding, Promise<Uint8Array>>();
  return {
    type,
    etag: `"${digest}"`,
    isHashed: hashedName.test(name),
    plain,
    // Compressed when first requested: the first page waits only for the files that it needs.
    compressed(encoding) {
      const found =
        kept.get(encoding) ??
        (encoding === "br" ? compressBrotli(plain, brotliOptions) : compressGzip(plain));
      kept.set(encoding, found);
      return found;
    },
  };
}
