import assert from "node:assert";
import { ShareServiceClient } from "@azure/storage-file-share";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { axeFindings } from "./axe.ts";
import { account, choose, explorer, putText, row, takePicture } from "./explorer.ts";

const here = explorer();
const container = "archive";
const fileCount = 25;

const blobs = () => here.blobs.getContainerClient(container);
const put = (name: string, text = name) => putText(here, { container, name, text });
const job = (page: Page, name: string | RegExp) => page.getByRole("group", { name });
const selected = (page: Page) => page.getByRole("toolbar", { name: "Selection" });
const inBar = (page: Page, name: string) =>
  selected(page).getByRole("button", { name, exact: true }).click();
const inDialog = (page: Page, name: string) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true }).click();

async function names(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name } of blobs().listBlobsFlat()) found.push(name);
  return found;
}

/** The names in a zip file, from its central directory. */
function zipNames(bytes: Buffer): readonly string[] {
  const found: string[] = [];
  const mark = Buffer.from([0x50, 0x4b, 1, 2]);
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
    found.push(bytes.subarray(at + 46, at + 46 + bytes.readUInt16LE(at + 28)).toString());
  }
  return found;
}

beforeAll(async () => {
  for (let index = 0; index < fileCount; index += 1) {
    await put(`2025/part-${String(index).padStart(2, "0")}.txt`, "x".repeat(fileCount - index));
  }
});

describe("many blobs", () => {
  it("are searched, sorted and selected by range, all, and keyboard", async () => {
    const page = await here.open(`#/blobs/${account}/${container}/2025%2F`);
    await row(page, "part-00.txt").waitFor();
    await page.getByLabel("Search by").selectOption("contains");
    await page.getByLabel("Part of the name").fill("T-1");
    await page.getByText("10 entries").waitFor();
    await page.getByLabel("Part of the name").fill("nothing");
    await page.getByText("No names contain “nothing”.").waitFor();
    await page.getByLabel("Part of the name").fill("");
    await page.getByText(`${fileCount} entries`).waitFor();
    // Ascending by size is the reverse order of the names.
    const first = page.locator(".work .grid-body .grid-row").first();
    await page.getByRole("columnheader", { name: "Size" }).getByRole("button").click();
    await expect.poll(() => first.textContent()).toContain("part-24.txt");
    await page.getByLabel("Sort by").selectOption("Name ↓");
    await expect.poll(() => first.textContent()).toContain("part-24.txt");
    await page.getByLabel("Sort by").selectOption("Default order");
    await expect.poll(() => first.textContent()).toContain("part-00.txt");

    await page.getByLabel("Select 2025/part-03.txt").click();
    await page.getByLabel("Select 2025/part-07.txt").click({ modifiers: ["Shift"] });
    await selected(page).getByText("5 selected").waitFor();
    await page.keyboard.press("Shift+ArrowDown");
    await selected(page).getByText("6 selected").waitFor();
    await page.keyboard.press("Control+a");
    await selected(page).getByText("All selected").waitFor();
    await page.keyboard.press("Space");
    await selected(page).getByText("All but 1 entry").waitFor();
    await selected(page).getByRole("button", { name: "Clear selection" }).click();
    await selected(page).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Containers" }).click();
    await choose(page, container, "Count blobs");
    await job(page, /^Count/)
      .getByText(`${fileCount} blobs, 325 B`)
      .waitFor();
  });

  it("are counted in a panel, and what it covers can be scrolled into view", async () => {
    const page = await here.open(`#/blobs/${account}`);
    await choose(page, container, "Count blobs");
    const panel = job(page, /^Count/);
    await panel.getByText(/ blobs, /).waitFor();
    const place = `#/blobs/${account}/${container}?blob=2025%2Fpart-00.txt`;
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await page.getByLabel("Header value 1").fill("text/markdown");
    const save = page.getByRole("button", { name: "Save", exact: true });
    const [below, above] = [await panel.boundingBox(), await save.boundingBox()];
    assert(below && above);
    // A window in which the panel is in front of the button.
    const height = Math.round(800 + above.y - below.y);
    await page.setViewportSize({ width: 1280, height });
    await save.click();
    await page.getByText("Properties saved").waitFor();
  });

  it("of a folder are downloaded, copied, moved and deleted", async () => {
    await put("other.txt");
    const page = await here.open(`#/blobs/${account}/${container}`);
    await row(page, "2025/").waitFor();
    // The menu opens by keyboard, too.
    await row(page, "2025/").click({ button: "right" });
    const menu = page.getByRole("menu", { name: "2025/" });
    await menu.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "detached" });
    await page.getByRole("grid").first().focus();
    await page.keyboard.press("Shift+F10");
    await menu.waitFor();
    const downloading = page.waitForEvent("download");
    await menu.getByRole("menuitem", { name: "Download zip" }).click();
    const saved = await downloading;
    expect(saved.suggestedFilename()).toBe("2025.zip");
    const zipped = zipNames(await readFile(await saved.path()));
    expect(zipped).toHaveLength(fileCount);
    expect(zipped.toSorted()[24]).toBe("2025/part-24.txt");

    await page.getByLabel("Select 2025/").click();
    await inBar(page, "Copy to…");
    await page.getByLabel("Target folder").fill("copies");
    await inDialog(page, "Copy");
    await job(page, /^Copy 2025/)
      .getByText(`${fileCount} of ${fileCount}`)
      .waitFor();
    await row(page, "copies/").waitFor();
    expect(await names()).toHaveLength(2 * fileCount + 1);

    // One blob of the target exists: it is listed as a failure, and its source stays.
    await put("moved/2025/part-03.txt", "mine");
    await choose(page, "copies/", "Rename");
    await page.getByRole("dialog").getByLabel("Folder").fill("moved");
    await inDialog(page, "Rename");
    const move = job(page, /^Move copies/);
    await move.getByText("24 of 25, 1 failed").waitFor();
    await move.getByText("copies/2025/part-03.txt").waitFor();
    await takePicture(page, "bulk");
    expect(await axeFindings(page)).toEqual([]);
    const kept = (await names()).filter((name) => name.startsWith("copies/"));
    expect(kept).toEqual(["copies/2025/part-03.txt"]);
    await blobs().deleteBlob("moved/2025/part-03.txt");
    await move.getByRole("button", { name: "Retry 1" }).click();
    await move.getByText("25 of 25").waitFor();
    await row(page, "copies/").waitFor({ state: "detached" });

    // A blob that another client has changed is not deleted until the user asks again.
    await page.getByLabel("Select moved/").click();
    await page.getByLabel("Select other.txt").click();
    await put("other.txt", "changed");
    await inBar(page, "Delete");
    await inDialog(page, "Delete");
    const removal = job(page, /^Delete 2 entries/);
    await removal.getByText("Changed by another client since it was listed").waitFor();
    expect(await names()).toHaveLength(fileCount + 1);
    await removal.getByRole("button", { name: "Retry 1" }).click();
    await removal.getByText("26 of 26").waitFor();
    expect(await names()).toHaveLength(fileCount);
  });

  it("are renamed with their tags, only in the state that was shown", async () => {
    await put("draft.txt", "first");
    const draft = blobs().getBlobClient("draft.txt");
    await draft.setTags({ stage: "draft" });
    const page = await here.open(`#/blobs/${account}/${container}`);
    await row(page, "draft.txt").waitFor();
    // Without a change in between a rename copies, and deletes the source.
    await choose(page, "draft.txt", "Rename");
    await page.getByLabel("Name", { exact: true }).last().fill("final.txt");
    await put("draft.txt", "second");
    await inDialog(page, "Rename");
    await page.getByRole("alert").getByText("412").waitFor();
    expect(await names()).not.toContain("final.txt");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Refresh" }).click();
    await row(page, "draft.txt").getByText("6 B").waitFor();
    await draft.setTags({ stage: "draft" });
    await choose(page, "draft.txt", "Rename");
    await page.getByLabel("Name", { exact: true }).last().fill("final.txt");
    await inDialog(page, "Rename");
    await row(page, "draft.txt").waitFor({ state: "detached" });
    const final = blobs().getBlobClient("final.txt");
    expect((await final.getTags()).tags).toEqual({ stage: "draft" });
    expect((await final.downloadToBuffer()).toString()).toBe("second");
  });
});

describe("many files of a share", () => {
  it("are copied, moved, downloaded and deleted with their directories", async () => {
    const service = ShareServiceClient.fromConnectionString(here.server.connectionString);
    const share = service.getShareClient("files");
    await share.create();
    for (const path of ["a", "a/b", "a/b/c", "to"]) await share.getDirectoryClient(path).create();
    for (const [path, name] of [
      ["a", "one.txt"],
      ["a/b", "two.txt"],
      ["a/b/c", "three.txt"],
    ] as const) {
      const file = share.getDirectoryClient(path).getFileClient(name);
      await file.create(name.length);
      await file.uploadRange(name, 0, name.length);
    }
    const page = await here.open(`#/shares/${account}/files`);
    await row(page, "a").first().waitFor();
    const downloading = page.waitForEvent("download");
    await choose(page, "a", "Download zip");
    const zip = await readFile(await (await downloading).path());
    expect(zipNames(zip).toSorted()).toEqual(["a/b/c/three.txt", "a/b/two.txt", "a/one.txt"]);
    await page.getByLabel("Select a", { exact: true }).click();
    await inBar(page, "Copy to…");
    await page.getByLabel("Target folder").fill("to");
    await inDialog(page, "Copy");
    await job(page, /^Copy a/)
      .getByText("6 of 6")
      .waitFor();
    const copy = share.getDirectoryClient("to/a/b/c").getFileClient("three.txt");
    expect((await copy.downloadToBuffer()).toString()).toBe("three.txt");
    await choose(page, "a", "Count");
    await job(page, /^Count a/)
      .getByText("3 files, 3 directories, 23 B")
      .waitFor();
    await choose(page, "a", "Delete");
    await inDialog(page, "Delete");
    await job(page, /^Delete a/)
      .getByText("6 of 6")
      .waitFor();
    expect(await share.getDirectoryClient("a").exists()).toBe(false);
    expect(await copy.exists()).toBe(true);
  });
});

describe("containers", () => {
  it("are sorted, selected by range, and deleted together", async () => {
    for (const name of ["old-a", "old-b", "old-c"]) await here.blobs.createContainer(name);
    const page = await here.open(`#/blobs/${account}`);
    await row(page, "old-c").waitFor();
    await page.getByLabel("Sort by").selectOption("Name ↓");
    const first = page.locator(".work .grid-body .grid-row").first();
    await expect.poll(() => first.textContent()).toContain("old-c");
    await page.getByLabel("Select old-a").click();
    await page.getByLabel("Select old-c").click({ modifiers: ["Shift"] });
    await selected(page).getByText("3 selected").waitFor();
    await here.blobs.getContainerClient("old-b").getBlobLeaseClient().acquireLease(60);
    await inBar(page, "Delete");
    await page.getByText("Delete 3 containers with everything in them?").waitFor();
    await inDialog(page, "Delete");
    const removal = job(page, /^Delete 3 containers/);
    await removal.getByText("2 of 3, 1 failed").waitFor();
    await row(page, "old-a").waitFor({ state: "detached" });
    await row(page, "old-b").waitFor();
    expect(await here.blobs.getContainerClient("old-c").exists()).toBe(false);
  });
});
