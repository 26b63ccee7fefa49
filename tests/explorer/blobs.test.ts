import { describe, expect, it } from "vitest";
import { account, explorer, putText, row } from "./explorer.ts";

const here = explorer();
const container = "library";

async function put(name: string, text = "text"): Promise<void> {
  await putText(here, { container, name, text });
}

const show = (name: string) => here.open(`#/blobs/${account}/${container}?blob=${name}`);

describe("blobs", () => {
  it("are found by folder, by prefix, and in a flat list", async () => {
    for (const name of ["a/one.txt", "a/b/two.txt", "readme.md", "recipe.md"]) await put(name);
    const page = await here.open(`#/blobs/${account}`);
    await row(page, container).click();
    await row(page, "a/").waitFor();
    await page.getByLabel("Prefix").fill("rec");
    await row(page, "readme.md").waitFor({ state: "detached" });
    await row(page, "recipe.md").waitFor();
    await page.getByLabel("Prefix").fill("");
    await row(page, "a/").click();
    await row(page, "one.txt").waitFor();
    await page.getByRole("link", { name: container }).click();
    await page.getByRole("button", { name: "Flat" }).click();
    await row(page, "a/b/two.txt").waitFor();
  });

  it("show and change their metadata, tags, headers and tier", async () => {
    await put("facts.txt");
    const blob = here.blobs.getContainerClient(container).getBlobClient("facts.txt");
    const page = await show("facts.txt");
    await page.getByLabel("Tier").selectOption("Cool");
    await page.getByText("Access tier set to Cool").waitFor();
    await page.getByLabel("Header value 1").fill("text/markdown");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Properties saved").waitFor();
    await page.getByRole("tab", { name: "Metadata" }).click();
    for (const group of ["Metadata", "Tags"]) {
      const box = page.getByRole("group", { name: group });
      await box.getByRole("button", { name: "Add" }).click();
      await box.getByLabel(`${group} name 1`).fill("colour");
      await box.getByLabel(`${group} value 1`).fill("green");
      await box.getByRole("button", { name: "Save" }).click();
      await page.getByText(`${group} saved`).waitFor();
    }
    const found = await blob.getProperties();
    expect(found.accessTier).toBe("Cool");
    expect(found.contentType).toBe("text/markdown");
    expect(found.metadata).toEqual({ colour: "green" });
    expect((await blob.getTags()).tags).toEqual({ colour: "green" });
  });

  it("are found by their tags", async () => {
    await put("deep/tagged.txt");
    const client = here.blobs.getContainerClient(container);
    await client.getBlobClient("deep/tagged.txt").setTags({ stage: "final" });
    const page = await here.open(`#/blobs/${account}`);
    await page.getByRole("link", { name: "Find by tags" }).click();
    await page.getByLabel("Tag expression").fill("stage is final");
    await page.getByRole("button", { name: "Find blobs" }).click();
    await page.getByText("Loading blobs with these tags failed").waitFor();
    await page.getByLabel("Tag expression").fill(`"stage" = 'final'`);
    await page.getByRole("button", { name: "Find blobs" }).click();
    await row(page, "stage = final").click();
    await page.getByRole("complementary", { name: "tagged.txt" }).waitFor();
  });

  it("are previewed as images, CSV rows and bytes", async () => {
    const client = here.blobs.getContainerClient(container);
    const space = 'xmlns="http://www.w3.org/2000/svg"';
    const picture = `<svg ${space} width="9" height="9"><script>x</script></svg>`;
    await client.getBlockBlobClient("dot.svg").upload(picture, picture.length, {
      blobHTTPHeaders: { blobContentType: "image/svg+xml" },
    });
    const rows = 'name,city\n"Lovelace, Ada",London\n';
    await client.getBlockBlobClient("people.csv").upload(rows, rows.length, {
      blobHTTPHeaders: { blobContentType: "text/csv" },
    });
    const page = await show("dot.svg");
    await page.getByRole("tab", { name: "Content" }).click();
    const image = page.getByRole("img", { name: "dot.svg" });
    await expect
      .poll(() =>
        image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth),
      )
      .toBe(9);
    await page.goto(`${here.server.adminUrl}/#/blobs/${account}/${container}?blob=people.csv`);
    await page.getByRole("tab", { name: "Content" }).click();
    await page.getByRole("cell", { name: "Lovelace, Ada" }).waitFor();
    await page.getByLabel("Show as").selectOption("Hexadecimal");
    await page.getByText("00000000  6e 61 6d 65").waitFor();
  });

  it("can be snapshotted and restored", async () => {
    await put("kept.txt", "before");
    const page = await show("kept.txt");
    await page.getByRole("button", { name: "Snapshot" }).click();
    await page.getByText("Snapshot taken").waitFor();
    await put("kept.txt", "after");
    await page.getByRole("tab", { name: "History" }).click();
    const states = page.getByRole("grid", { name: "Stored states" });
    await states.getByRole("row", { name: /^snapshot/ }).click();
    await page.getByRole("tab", { name: "Content" }).click();
    await page.locator(".preview-text", { hasText: "before" }).waitFor();
    expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
  });

  it("list their history from the newest state on, page by page", async () => {
    await put("old.txt", "first");
    const blob = here.blobs.getContainerClient(container).getBlobClient("old.txt");
    for (let index = 0; index < 210; index += 1) await blob.createSnapshot();
    await put("old.txt", "last");
    const page = await show("old.txt");
    await page.getByRole("tab", { name: "History" }).click();
    const states = page.getByRole("grid", { name: "Stored states" });
    const first = await states.getByRole("row", { name: /^current/ }).textContent();
    expect(first).toContain("4 B");
    await states.focus();
    await page.keyboard.press("End");
    await page.getByText("211 entries").waitFor();
    await page.keyboard.press("End");
    await states.locator("[aria-rowindex='212']").waitFor();
    expect(await states.getByRole("row").count()).toBeLessThan(40);
  });

  it("are shown and restored after deletion", async () => {
    await here.blobs.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
    await put("present.txt");
    await put("lost.txt", "found again");
    const blob = here.blobs.getContainerClient(container).getBlobClient("lost.txt");
    await blob.delete();
    const page = await here.open(`#/blobs/${account}/${container}`);
    await row(page, "present.txt").waitFor();
    expect(await row(page, "lost.txt").count()).toBe(0);
    await page.getByRole("button", { name: "History" }).click();
    await row(page, "lost.txt").click();
    await page.getByRole("button", { name: /^Actions of deleted/ }).click();
    await page.getByRole("menuitem", { name: "Undelete" }).click();
    await page.getByText("Restored").waitFor();
    expect((await blob.downloadToBuffer()).toString()).toBe("found again");
  });

  it("are in a container with metadata, a lease and links", async () => {
    await put("any.txt", "any");
    const page = await here.open(`#/blobs/${account}/${container}`);
    await page.getByRole("link", { name: "Details" }).click();
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByLabel("Metadata name 1").fill("owner");
    await page.getByLabel("Metadata value 1").fill("ada");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Metadata saved").waitFor();
    const client = here.blobs.getContainerClient(container);
    expect((await client.getProperties()).metadata).toEqual({ owner: "ada" });
    await page.getByRole("tab", { name: "Access" }).click();
    await page.getByRole("button", { name: "Acquire lease" }).click();
    await page.getByText("Lease acquired").waitFor();
    expect((await client.getProperties()).leaseState).toBe("leased");
    await page.getByRole("button", { name: "Release" }).click();
    await page.getByText("Lease released").waitFor();
    await page.getByRole("checkbox", { name: "List" }).check();
    await page.getByRole("button", { name: "Create SAS URL" }).click();
    const link = await page.getByLabel("Link", { exact: true }).inputValue();
    const listed = await fetch(`${link}&restype=container&comp=list`);
    expect(await listed.text()).toContain("any.txt");
  });

  it("are copied, downloaded, and shared by SAS link", async () => {
    await put("source.txt", "to be copied");
    const page = await show("source.txt");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("copy.txt");
    await page.getByRole("dialog").getByRole("button", { name: "Copy" }).click();
    await row(page, "copy.txt").waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    expect((await downloading).suggestedFilename()).toBe("source.txt");
    await page.getByRole("tab", { name: "Access" }).click();
    await page.getByRole("button", { name: "Create SAS URL" }).click();
    const link = await page.getByLabel("Link", { exact: true }).inputValue();
    expect(await (await fetch(link)).text()).toBe("to be copied");
    const anonymous = await fetch(link.split("?", 1)[0] ?? "");
    expect(anonymous.status).toBeGreaterThanOrEqual(400);
  });

  it("are deleted only if unchanged since they were shown", async () => {
    await put("going.txt");
    const page = await show("going.txt");
    await page.getByText("BlockBlob").waitFor();
    await put("going.txt", "changed meanwhile");
    const ask = async (): Promise<void> => {
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    };
    await ask();
    await page.getByRole("alert").getByText("412").waitFor();
    await page.reload();
    await page.getByText("BlockBlob").waitFor();
    await ask();
    await row(page, "going.txt").waitFor({ state: "detached" });
  });
});
