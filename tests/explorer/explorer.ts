import assert from "node:assert";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";
import { afterEach, beforeAll, expect } from "vitest";
import type { EtagereServer, StartOptions } from "../../src/index.ts";
import { testServer } from "../harness/server.ts";

/** Debian's browser, or another one by path. */
const wholeBrowser = process.env["ETAGERE_CHROMIUM"] ?? "/usr/bin/chromium";
/** The same browser without windows, which needs a quarter of the processor time for a page. */
const headlessShell = "/usr/bin/chromium-headless-shell";
const usualBrowser =
  process.env["ETAGERE_CHROMIUM"] === undefined && existsSync(headlessShell)
    ? headlessShell
    : wholeBrowser;
const pictureFolder = process.env["ETAGERE_PICTURES"] ?? join(".build", "explorer");
const waitMillisecondsMax = 60_000;

export const account = "devstoreaccount1";

export interface Explorer {
  readonly server: EtagereServer;
  readonly blobs: BlobServiceClient;
  /** A tab with its own browser profile, at a location such as `#/blobs`. */
  open(hash: string, options?: BrowserContextOptions): Promise<Page>;
}

export interface ExplorerOptions extends StartOptions {
  /** The page is logged in with the admin token before it is shown. */
  readonly isLoggedIn?: true;
  /** The browser has its viewers, as for PDF, which it has not without windows. */
  readonly hasViewers?: true;
}

/** The browsers of all test files of this worker, by path: starting one takes longer than many a
 *  test. They end with the process. */
const sharedBrowsers = new Map<string, Promise<Browser>>();

async function openBrowser(path: string): Promise<Browser> {
  const started = await sharedBrowsers.get(path)?.catch(() => undefined);
  if (started?.isConnected() === true) return started;
  const launched = chromium.launch({
    executablePath: path,
    args: ["--no-sandbox"],
    timeout: waitMillisecondsMax,
  });
  sharedBrowsers.set(path, launched);
  return launched;
}

/** A server and a browser. Any error that the page reports fails the test. */
export function explorer({ isLoggedIn, hasViewers, ...options }: ExplorerOptions = {}): Explorer {
  const held = testServer(options);
  const complaints: string[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (!existsSync("ui/dist/index.html")) throw new Error("the page is missing: npm run build");
    browser = await openBrowser(hasViewers === true ? wholeBrowser : usualBrowser);
  });
  afterEach(async () => {
    await Promise.all((browser?.contexts() ?? []).map(closeContext));
    expect(complaints.splice(0)).toEqual([]);
  });
  const open = async (hash: string, more: BrowserContextOptions = {}): Promise<Page> => {
    const size = { width: 1280, height: 800 };
    assert(browser);
    const context = await browser.newContext({ viewport: size, reducedMotion: "reduce", ...more });
    context.setDefaultTimeout(waitMillisecondsMax);
    if (isLoggedIn === true) {
      const headers = { "x-etagere-admin": "1", "content-type": "application/json" };
      const data = { token: options.adminToken };
      await context.request.post(`${held.server.adminUrl}/admin/v1/session`, { headers, data });
    }
    const page = await context.newPage();
    watch(page, { origin: new URL(held.server.adminUrl).origin, complaints });
    await page.goto(`${held.server.adminUrl}/${hash}`);
    return page;
  };
  return {
    open,
    get server() {
      return held.server;
    },
    get blobs() {
      return BlobServiceClient.fromConnectionString(held.server.connectionString);
    },
  };
}

/** Requests of the pages may still be intercepted: answering one of a closed page would fail. */
export async function closeContext(context: BrowserContext): Promise<void> {
  const behavior = "ignoreErrors";
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior })));
  await context.close();
}

interface Watched {
  readonly origin: string;
  readonly complaints: string[];
}

/** Page errors, violations of its content security policy, and requests to other servers. */
function watch(page: Page, { origin, complaints }: Watched): void {
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser reports 404 and 412 responses, which the page expects.
    if (message.type() !== "error" || /Failed to load resource/.test(message.text())) return;
    complaints.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    // The viewer for PDF is a part of the browser.
    const isOwn = url.startsWith(origin) || /^(blob|chrome|chrome-extension):/.test(url);
    if (!isOwn) complaints.push(`called ${url}`);
  });
}

/** Saves a screenshot in `.build/explorer`, or in the folder ETAGERE_PICTURES, once the page shows
 *  no loading indicator: one without content is useless in a document. */
export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(pictureFolder, { recursive: true });
  await expect.poll(() => page.getByText("Loading…").count()).toBe(0);
  await page.screenshot({ path: join(pictureFolder, `${name}.png`), animations: "disabled" });
}

export function row(page: Page, name: string) {
  return page.locator(".work .grid-body .grid-row", { hasText: name });
}

/** Runs a command of the menu of a row. */
export async function choose(page: Page, name: string, command: string): Promise<void> {
  await page.getByRole("button", { name: `Actions of ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: command, exact: true }).click();
}

export async function putText(
  { blobs }: Explorer,
  { container, name, text }: { container: string; name: string; text: string },
): Promise<void> {
  const client = blobs.getContainerClient(container);
  await client.createIfNotExists();
  await client.getBlockBlobClient(name).upload(text, Buffer.byteLength(text), {
    blobHTTPHeaders: { blobContentType: name.endsWith(".md") ? "text/markdown" : "text/plain" },
  });
}
