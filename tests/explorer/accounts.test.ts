import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { account, explorer, putText, row } from "./explorer.ts";

const thirdKey = Buffer.alloc(64, 3).toString("base64");
const here = explorer({
  isLoggedIn: true,
  adminToken: "a token of some length",
  accounts: {
    [account]: { keys: [developmentAccountKey], versioning: true },
    second: { keys: [developmentAccountKey] },
    third: { keys: [thirdKey] },
  },
});

describe("accounts", () => {
  it("show every version if versioning is enabled", async () => {
    const place = { container: "versioned", name: "notes.txt" };
    await putText(here, { ...place, text: "the first text" });
    await putText(here, { ...place, text: "the second text" });
    const page = await here.open(`#/blobs/${account}/versioned?blob=notes.txt`);
    await page.getByRole("tab", { name: "History" }).click();
    const states = page.getByRole("grid", { name: "Stored states" });
    await states.getByRole("row", { name: /^current/ }).waitFor();
    const older = states.getByRole("row", { name: /^version/ });
    expect(await older.count()).toBe(1);
    await older.click();
    await page.getByRole("tab", { name: "Content" }).click();
    await page.locator(".preview-text", { hasText: "the first text" }).waitFor();
    // A version becomes the current state only over the state that was shown.
    await page.getByRole("tab", { name: "History" }).click();
    await older.waitFor();
    await putText(here, { ...place, text: "the third text" });
    const restore = async (): Promise<void> => {
      await older
        .last()
        .getByRole("button", { name: /^Actions of version/ })
        .click();
      await page.getByRole("menuitem", { name: "Make current" }).click();
    };
    await restore();
    await page.getByText("(412 ConditionNotMet)").waitFor();
    await page.reload();
    await page.getByRole("tab", { name: "History" }).click();
    await expect.poll(() => older.count()).toBe(2);
    await restore();
    await page.getByText("This state is the current one").waitFor();
    const blob = here.blobs.getContainerClient("versioned").getBlobClient("notes.txt");
    expect((await blob.downloadToBuffer()).toString()).toBe("the first text");
  });

  it("can be switched in the page", async () => {
    const credential = new StorageSharedKeyCredential("second", developmentAccountKey);
    const blobs = new BlobServiceClient(`${here.server.urls.blob}/second`, credential);
    await blobs.createContainer("of-the-second");
    const page = await here.open("#/blobs");
    await page.getByLabel("Account").selectOption("second");
    await row(page, "of-the-second").waitFor();
    expect(page.url()).toContain("#/blobs/second");
    await page.reload();
    await row(page, "of-the-second").waitFor();
  });

  it("are changed below the dialog with their keys, which then shows those of the new one", async () => {
    const page = await here.open("#/blobs/second");
    await page.getByRole("button", { name: "Connect" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Connect to second" }).waitFor();
    await dialog.getByRole("button", { name: "Show key" }).click();
    await dialog.getByLabel("Key 1", { exact: true }).waitFor();
    await page.evaluate(`location.hash = "#/blobs/third"`);
    await dialog.getByRole("heading", { name: "Connect to third" }).waitFor();
    // The key of the account before must not stand under the name of this one.
    expect(await dialog.getByLabel("Key 1", { exact: true }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Show key" }).click();
    expect(await dialog.getByLabel("Key 1", { exact: true }).inputValue()).toBe(thirdKey);
    expect(await dialog.getByLabel("blob endpoint", { exact: true }).inputValue()).toMatch(
      /third$/,
    );
  });
});
