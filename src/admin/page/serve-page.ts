import type { AdminResponse } from "../admin-response.ts";
import type { AdminRequest } from "../request.ts";
import type { PageFile, PageFiles } from "./page-files.ts";

/** Permits only resources of this server, no inline scripts or styles, and no embedding in
 *  frames. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
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
