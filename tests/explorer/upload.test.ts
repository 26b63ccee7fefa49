import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { account, explorer, row, takePicture } from "./explorer.ts";
import { dropFile, noteCounts, notedCounts } from "./in-page.ts";

const here = explorer();
const folder = temporaryFolder();
const fileCount = 200;
const blockBytes = 4 * 1024 * 1024;

beforeAll(async () => {
  for (let index = 0; index < fileCount; index += 1) {
    const part = join(folder, "album", `day-${index % 5}`);
    mkdirSync(part, { recursive: true });
    writeFileSync(join(part, `picture-${index}.txt`), `picture ${index}\n`.repeat(200));
  }
  for (const name of ["uploads", "large", "dropped", "slow", "cancelled"]) {
    await here.blobs.getContainerClient(name).create();
  }
});

async function namesIn(container: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of here.blobs.getContainerClient(container).listBlobsFlat()) {
    names.push(name);
  }
  return names;
}

describe("uploads", () => {
  it("a folder of 200 files with progress", async () => {
    const page = await here.open(`#/blobs/${account}/uploads`);
    await page.getByText("No blobs").waitFor();
    await page.evaluate(noteCounts);
    await page.locator("[data-choose=folder]").setInputFiles(join(folder, "album"));
    await page
      .getByText(/^[1-9]\d{1,2} of 200 files/)
      .first()
      .waitFor();
    await takePicture(page, "upload");
    await page.getByText("200 of 200 files").waitFor();
    const counts: readonly string[] = await page.evaluate(notedCounts);
    const between = counts.filter((text) => !/^(0|200) of/.test(text));
    expect(between.length).toBeGreaterThan(0);
    await row(page, "album/").click();
    await row(page, "day-3/").waitFor();
    const names = await namesIn("uploads");
    expect(names).toHaveLength(fileCount);
    expect(names).toContain("album/day-3/picture-103.txt");
  });

  it("overwrites only on request, and only the version that was shown", async () => {
    const page = await here.open(`#/blobs/${account}/uploads`);
    const file = { name: "twice.txt", mimeType: "text/plain", buffer: Buffer.from("first") };
    await page.locator("[data-choose=files]").setInputFiles(file);
    await row(page, "twice.txt").first().waitFor();
    await page.getByText("1 of 1 file").waitFor();
    await page
      .locator("[data-choose=files]")
      .setInputFiles({ ...file, buffer: Buffer.from("second") });
    await page.getByText("The name exists").waitFor();
    const blob = here.blobs.getContainerClient("uploads").getBlobClient("twice.txt");
    expect((await blob.downloadToBuffer()).toString()).toBe("first");
    await page.getByRole("button", { name: "Overwrite 1" }).click();
    await page.getByText("2 of 2 files").waitFor();
    expect((await blob.downloadToBuffer()).toString()).toBe("second");
  });

  it("resumes with the missing blocks after a cancel", async () => {
    const path = join(folder, "large.bin");
    const blocks = 3;
    writeFileSync(path, "x");
    truncateSync(path, blocks * blockBytes);
    const page = await here.open(`#/blobs/${account}/large`);
    const isBlock = (url: URL): boolean => url.searchParams.get("comp") === "block";
    let sent = 0;
    let sentMax = 1;
    let stored = 0;
    page.on("response", (response) => {
      if (isBlock(new URL(response.url())) && response.status() === 201) stored += 1;
    });
    await page.route(isBlock, async (route) => {
      // The rest is never sent, as on a stalled connection.
      if (sent >= sentMax) return;
      sent += 1;
      await route.continue();
    });
    await page.locator("[data-choose=files]").setInputFiles(path);
    await page.getByText("4.0 MiB of 12.0 MiB").waitFor();
    // The page counts the bytes that it sent; a block counts for the service when it is stored.
    await expect.poll(() => stored).toBe(1);
    await page.getByRole("button", { name: "Cancel" }).first().click();
    await page.getByText("Stopped").waitFor();
    sentMax = 2;
    await page.getByRole("button", { name: "Resume 1" }).click();
    await page.getByText("8.0 MiB of 12.0 MiB").waitFor();
    await expect.poll(() => stored).toBe(2);
    // Choosing the same file after closing the page resumes the upload, too.
    await page.reload();
    sentMax = Number.POSITIVE_INFINITY;
    await page.locator("[data-choose=files]").setInputFiles(path);
    await page.getByText("1 of 1 file").waitFor();
    expect(sent).toBe(blocks);
    const blob = here.blobs.getContainerClient("large").getBlobClient("large.bin");
    expect((await blob.getProperties()).contentLength).toBe(blocks * blockBytes);
  });

  it("counts what is stored after a cancel, and resumes the rest without conflicts", async () => {
    const page = await here.open(`#/blobs/${account}/cancelled`);
    await page.getByText("No blobs").waitFor();
    const devtools = await page.context().newCDPSession(page);
    const answerAfter = (latency: number) =>
      devtools.send("Network.emulateNetworkConditions", {
        offline: false,
        latency,
        downloadThroughput: -1,
        uploadThroughput: -1,
      });
    await answerAfter(3000);
    const files = Array.from({ length: 10 }, (_, index) => ({
      name: `file-${index}.txt`,
      mimeType: "text/plain",
      buffer: Buffer.from(`text ${index}`),
    }));
    await page.locator("[data-choose=files]").setInputFiles(files);
    // Blobs are stored whose responses the page does not have yet.
    await expect.poll(async () => (await namesIn("cancelled")).length).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Cancel", exact: true }).first().click();
    await page.getByRole("heading", { name: "Stopped" }).waitFor();
    await answerAfter(0);
    const stored = (await namesIn("cancelled")).length;
    await page.getByText(`${stored} of 10 files`).waitFor();
    // The list shows what is stored without a refresh.
    await page.getByText(new RegExp(`^${stored} entr`)).waitFor();
    // The response to one file is lost after it was stored.
    let lost = 0;
    const isUpload = (url: URL): boolean => url.pathname.includes("/cancelled/file-");
    await page.route(isUpload, async (route) => {
      lost += 1;
      if (lost > 1) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: `Resume ${10 - stored}` }).click();
    await page.getByText("9 of 10 files").waitFor();
    await page.getByRole("button", { name: "Resume 1" }).click();
    await page.getByText("10 of 10 files").waitFor();
    expect(await page.getByText("The name exists").count()).toBe(0);
    expect(await namesIn("cancelled")).toHaveLength(10);
    await page.getByRole("button", { name: "Hide files" }).click();
    expect(await page.getByRole("grid", { name: "Files" }).count()).toBe(0);
    // The panel leaves when its work is done.
    await page.getByRole("region", { name: "Uploads" }).waitFor({ state: "detached" });
  });

  it("shows progress inside a block", async () => {
    const page = await here.open(`#/blobs/${account}/slow`);
    const devtools = await page.context().newCDPSession(page);
    const limit = (uploadThroughput: number) =>
      devtools.send("Network.emulateNetworkConditions", {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await limit(500_000);
    const buffer = Buffer.alloc(3 * 1024 * 1024);
    const file = { name: "one-block.bin", mimeType: "application/octet-stream", buffer };
    await page.locator("[data-choose=files]").setInputFiles(file);
    await page.getByText(/^0 of 1 file, (?!0 B|3\.0 MiB)[\d.]+ [KM]iB of 3\.0 MiB/).waitFor();
    await limit(-1);
    await page.getByText("1 of 1 file").waitFor();
  });

  it("files dropped on the list", async () => {
    const page = await here.open(`#/blobs/${account}/dropped`);
    await page.getByText("No blobs").waitFor();
    await page.evaluate(dropFile);
    await row(page, "dropped.txt").first().waitFor();
    expect(await namesIn("dropped")).toEqual(["dropped.txt"]);
  });
});
