import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { ShareServiceClient } from "@azure/storage-file-share";
import { describe, expect, it } from "vitest";
import { account, explorer } from "./explorer.ts";
import { axeFindings } from "./axe.ts";
import { noteMadeType, setPdfViewer } from "./in-page.ts";

const here = explorer({ hasViewers: true });

/** A page with one line of text. Viewers rebuild the missing table of references. */
const pdf = Buffer.from(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n" +
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj\n" +
    "trailer<</Root 1 0 R>>\n%%EOF\n",
);

async function put(name: string, content: Buffer, type: string): Promise<void> {
  const container = here.blobs.getContainerClient("previews");
  await container.createIfNotExists();
  const headers = { blobHTTPHeaders: { blobContentType: type } };
  await container.getBlockBlobClient(name).uploadData(content, headers);
}

const contentOf = (name: string): string => `#/blobs/${account}/previews?blob=${name}&tab=content`;

/** A tab that runs a script before those of the page, at the content of a blob. */
async function opened(script: string, name: string): Promise<Page> {
  const page = await here.open("#/overview");
  await page.context().addInitScript(script);
  await page.goto(new URL(contentOf(name), page.url()).href);
  await page.reload();
  return page;
}

describe("the preview of a PDF", () => {
  it("is the browser's viewer, with a type that stored content cannot change", async () => {
    await put("page.pdf", pdf, "text/html");
    const page = await opened(setPdfViewer(true) + noteMadeType, "page.pdf");
    const frame = page.locator("iframe[title='page.pdf']");
    await frame.waitFor();
    expect(await frame.getAttribute("src")).toMatch(/^blob:/);
    // The viewer of Chromium is an extension; the page's policy must let it run.
    const isViewer = (): boolean =>
      page.frames().some((each) => each.url().startsWith("chrome-extension:"));
    if ((await page.evaluate("navigator.plugins.length")) !== 0) {
      await expect.poll(isViewer).toBe(true);
    }
    expect(await page.locator("html").getAttribute("data-made")).toBe("application/pdf");
  });

  it("is an advice where the browser has no viewer, and an error for other content", async () => {
    await put("page.pdf", pdf, "application/pdf");
    await put("page2.pdf", Buffer.from("<script>alert(1)</script>"), "application/pdf");
    const page = await opened(setPdfViewer(false), "page.pdf");
    await page.getByText("This browser has no viewer for PDF").waitFor();
    const other = await opened(setPdfViewer(true), "page2.pdf");
    await other.getByText("this is no PDF file").waitFor();
    expect(await other.locator("iframe").count()).toBe(0);
  });
});

describe("the preview of a Parquet file", () => {
  it("has the first rows, decoded by the server, and the schema", async () => {
    const files = "tests/sdk/parquet-files";
    await put("all.parquet", readFileSync(`${files}/all-snappy.parquet`), "");
    await put("nested.parquet", readFileSync(`${files}/nested.parquet`), "");
    await put("bad.parquet", Buffer.from("PAR1 nonsense PAR1"), "");
    const page = await here.open(contentOf("all.parquet"));
    await page.getByText(/\d+ rows? of /).waitFor();
    await page.getByText(/^Schema: \d+ columns, \d+ rows in the file/).click();
    await page.getByRole("cell", { name: "text (bytes)" }).first().waitFor();
    await page.getByRole("cell", { name: "optional" }).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.goto(new URL(contentOf("nested.parquet"), page.url()).href);
    await page.getByText("column items has lists or structures").waitFor();
    await page.getByText(/^Schema: /).click();
    const inner = page.getByRole("row", { name: /repeated/ }).first();
    await inner.getByRole("cell").first().waitFor();
    await page.goto(new URL(contentOf("bad.parquet"), page.url()).href);
    await page.getByText("Loading rows failed").waitFor();
  });

  it("is hexadecimal in a share, whose service has no queries", async () => {
    const shares = ShareServiceClient.fromConnectionString(here.server.connectionString);
    await shares.createShare("previews");
    const file = shares.getShareClient("previews").rootDirectoryClient.getFileClient("a.parquet");
    await file.uploadData(Buffer.from("PAR1"));
    const page = await here.open(`#/shares/${account}/previews?file=a.parquet&tab=content`);
    await page.getByText("50 41 52 31").waitFor();
  });
});
