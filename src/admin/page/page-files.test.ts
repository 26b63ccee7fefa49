import { mkdtempSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { PageFiles, servePage } from "./serve-page.ts";

const folder = mkdtempSync(join(tmpdir(), "etagere-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function build(html: string, seconds: number): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "assets/app-D8sJ2kQx.js"), "export {};".repeat(100));
  writeFileSync(join(folder, "secret.key"), "no file of a page");
  writeFileSync(join(folder, "index.html"), html);
  utimesSync(join(folder, "index.html"), seconds, seconds);
}

it("shows a notice until the explorer is built, then the explorer", async () => {
  const files = new PageFiles(folder);
  const before = await servePage(files, { path: "/", headers: {} });
  expect(String(before?.body)).toContain("npm run build");
  build("<!doctype html>first", 1000);
  const first = await servePage(files, { path: "/", headers: {} });
  expect(String(first?.body)).toBe("<!doctype html>first");
  build("<!doctype html>second", 2000);
  const second = await servePage(files, { path: "/", headers: {} });
  expect(String(second?.body)).toBe("<!doctype html>second");
});

it("compresses; hashed names are cached for ever, others are revalidated", async () => {
  build("<!doctype html>page", 3000);
  const files = new PageFiles(folder);
  const script = "/assets/app-D8sJ2kQx.js";
  const get = (path: string, headers = {}) => servePage(files, { path, headers });
  const brotli = await get(script, { "accept-encoding": "gzip, br" });
  expect(brotli?.headers?.["Content-Encoding"]).toBe("br");
  expect(brotli?.headers?.["Cache-Control"]).toContain("immutable");
  expect(brotliDecompressSync(brotli?.body ?? "").length).toBe(1000);
  const zipped = await get(script, { "accept-encoding": "gzip" });
  expect(gunzipSync(zipped?.body ?? "").length).toBe(1000);
  const page = await get("/");
  expect(page?.headers?.["Cache-Control"]).toBe("no-cache");
  const etag = String(page?.headers?.["ETag"]);
  expect(await get("/", { "if-none-match": etag })).toMatchObject({ status: 304 });
});

it("sends a policy without foreign sources and inline scripts", async () => {
  build("<!doctype html>page", 4000);
  const page = await servePage(new PageFiles(folder), { path: "/", headers: {} });
  const policy = String(page?.headers?.["Content-Security-Policy"]);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("style-src 'self';");
  expect(policy).toContain("frame-src blob:;");
  expect(policy).not.toContain("unsafe");
  expect(page?.headers).toMatchObject({ "X-Content-Type-Options": "nosniff" });
});

it.each(["/secret.key", "/../package.json", "/assets", "/assets/../index.html", "//index.html"])(
  "does not serve %s",
  async (path) => {
    build("<!doctype html>page", 5000);
    expect(await servePage(new PageFiles(folder), { path, headers: {} })).toBeUndefined();
  },
);
