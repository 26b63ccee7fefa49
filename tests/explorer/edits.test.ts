import { TableClient } from "@azure/data-tables";
import { QueueServiceClient } from "@azure/storage-queue";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { axeFindings } from "./axe.ts";
import { account, explorer, putText, row } from "./explorer.ts";

const here = explorer();
const container = "drafts";

const put = (name: string, text = "first\n") => putText(here, { container, name, text });
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const tab = (page: Page, name: string) => page.getByRole("tab", { name }).click();

async function stored(name: string): Promise<string> {
  const blob = here.blobs.getContainerClient(container).getBlobClient(name);
  return (await blob.downloadToBuffer()).toString();
}

describe("unsaved changes", () => {
  it("are kept until the user discards or saves them", async () => {
    await put("note.txt");
    const page = await here.open(`#/blobs/${account}/${container}?blob=note.txt`);
    await tab(page, "Content");
    await press(page, "Edit");
    const text = page.getByLabel("Text of note.txt");
    await text.fill("second\n");
    const asked = page.getByRole("dialog", { name: "Unsaved changes" });
    const hash = new URL(page.url()).hash;
    // A link, another tab, Escape and Close all ask first.
    const ways = [
      () => page.getByRole("link", { name: "Tables" }).click(),
      () => tab(page, "Metadata"),
      () => press(page, "Close"),
      async () => {
        await page.getByRole("button", { name: "Save", exact: true }).focus();
        await page.keyboard.press("Escape");
      },
    ];
    for (const leave of ways) {
      await leave();
      await asked.waitFor();
      await press(page, "Keep editing");
      await asked.waitFor({ state: "detached" });
      expect(await text.inputValue()).toBe("second\n");
      expect(new URL(page.url()).hash).toBe(hash);
    }
    // So does a reload.
    let question = "";
    page.once("dialog", (dialog) => {
      question = dialog.type();
      void dialog.dismiss();
    });
    await page.evaluate("setTimeout(() => location.reload(), 0)");
    await expect.poll(() => question).toBe("beforeunload");
    expect(await text.inputValue()).toBe("second\n");
    await text.press("Control+s");
    await page.getByText("note.txt saved").waitFor();
    expect(await stored("note.txt")).toBe("second\n");
    await tab(page, "Metadata");
    await page.getByRole("group", { name: "Metadata" }).waitFor();
  });

  it("of dialogs, metadata and entities are kept, and mistakes name their field", async () => {
    await put("facts.txt");
    const page = await here.open(`#/blobs/${account}/${container}?blob=facts.txt`);
    await press(page, "New blob");
    await page.getByRole("dialog").getByLabel("Text").fill("typed");
    await page.keyboard.press("Escape");
    await page.getByText("Your changes are not saved.").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await press(page, "Discard changes");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await tab(page, "Metadata");
    const box = page.getByRole("group", { name: "Metadata" });
    await box.getByRole("button", { name: "Add" }).click();
    await box.getByLabel("Metadata name 1").fill("my-name");
    await box.getByRole("button", { name: "Save" }).click();
    await box.getByRole("alert").getByText("Metadata name 1: “my-name” must be").waitFor();
    await box.getByLabel("Metadata name 1").fill("mine");
    await box.getByRole("alert").waitFor({ state: "detached" });
    await page.keyboard.press("Control+s");
    await page.getByText("Metadata saved").waitFor();

    const insecure = { allowInsecureConnection: true };
    const { connectionString } = here.server;
    const table = TableClient.fromConnectionString(connectionString, "books", insecure);
    await table.createTable();
    await table.createEntity({ partitionKey: "p", rowKey: "1", pages: 10 });
    await table.createEntity({ partitionKey: "p", rowKey: "2", pages: 20 });
    await page.goto(`${here.server.adminUrl}/#/tables/${account}/books`);
    const rows = page.locator(".work .grid-body .grid-row");
    await rows.first().click();
    await page.getByLabel("Value of property 1").fill("many");
    await rows.nth(1).click();
    await press(page, "Keep editing");
    await press(page, "Save");
    const detail = page.getByRole("complementary");
    await detail.getByText("pages: “many” is not a whole number of 32 bits.").waitFor();
    await page.getByLabel("Value of property 1").fill("11");
    await detail.getByText("is not a whole number").waitFor({ state: "detached" });
    await press(page, "Save");
    await page.getByText("Entity p/1 saved").waitFor();
  });
});

describe("a lease of the explorer", () => {
  it("is used when the page saves", async () => {
    await put("leased.txt");
    const page = await here.open(`#/blobs/${account}/${container}?blob=leased.txt`);
    await tab(page, "Access");
    await press(page, "Acquire lease");
    await page.getByText("Lease acquired").waitFor();
    // It survives a reload.
    await page.reload();
    await tab(page, "Content");
    await press(page, "Edit");
    await page.getByLabel("Text of leased.txt").fill("by the holder\n");
    await press(page, "Save");
    await page.getByText("leased.txt saved").waitFor();
    expect(await stored("leased.txt")).toBe("by the holder\n");
    await tab(page, "Access");
    await press(page, "Release lease");
    await page.getByText("Lease released").waitFor();
  });
});

describe("a server that is away for a time", () => {
  it("is named with a retry, and every view recovers when it returns", async () => {
    const queues = QueueServiceClient.fromConnectionString(here.server.connectionString);
    await queues.createQueue("waiting");
    await queues.getQueueClient("waiting").sendMessage(Buffer.from("grüße").toString("base64"));
    await put("there.txt");
    const views = [
      [`#/queues/${account}/waiting`, "Loading visible messages failed", "grüße"],
      ["#/concurrency/leases", "Loading leases failed", "No leases"],
      ["#/health", "Loading health figures failed", "Busiest operations"],
      // The code of this page is not loaded yet.
      ["#/principals", "Loading this view failed", "Role assignments"],
      [`#/blobs/${account}/${container}`, "Loading blobs in drafts failed", "there.txt"],
    ] as const;
    const page = await here.open("#/concurrency/leases");
    await page.getByText("No leases").waitFor();
    await page.evaluate(`location.hash = "#/health"`);
    await page.getByText("Busiest operations").waitFor();
    await page.evaluate(`location.hash = "#/tables"`);
    await page.getByText("New table").waitFor();
    for (const [hash, problem, content] of views) {
      await page.context().setOffline(true);
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.getByText(problem).waitFor();
      await page.getByRole("button", { name: "Retry" }).first().waitFor();
      await page.context().setOffline(false);
      await page.getByText(content).first().waitFor();
      await page.getByText(problem).waitFor({ state: "detached" });
    }
    // The text of a search without result differs from that of an empty container.
    await page.getByLabel("Prefix").fill("zzz");
    await page.getByText("No names begin with “zzz”.").waitFor();
    // Messages in flight are decoded as visible ones are.
    await queues.getQueueClient("waiting").receiveMessages();
    await page.evaluate(`location.hash = "#/concurrency/messages"`);
    await row(page, "grüße").waitFor();
  });
});
