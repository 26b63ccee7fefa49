import { TableClient } from "@azure/data-tables";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { axeFindings } from "./axe.ts";
import { account, choose, explorer, row } from "./explorer.ts";

const here = explorer();
const insecure = { allowInsecureConnection: true };

async function filledTable(name: string): Promise<TableClient> {
  const client = TableClient.fromConnectionString(here.server.connectionString, name, insecure);
  await client.createTable();
  for (let index = 0; index < 40; index += 1) {
    await client.createEntity({
      partitionKey: index % 2 === 0 ? "books" : "films",
      rowKey: String(index).padStart(3, "0"),
      title: `Title ${index}`,
      pages: index * 10,
      rating: { type: "Double", value: String(index / 10) },
      visits: { type: "Int64", value: String(2n ** 53n + BigInt(index)) },
      lent: index % 3 === 0,
    });
  }
  return client;
}

describe("tables", () => {
  it("runs a query from the builder and a typed one", async () => {
    await filledTable("catalogue");
    const page = await here.open(`#/tables/${account}/catalogue`);
    await page.getByText("40 entries").waitFor();
    await page.getByRole("button", { name: "Add clause" }).click();
    await page.getByLabel("Value of clause 1").fill("books");
    await page.getByRole("button", { name: "Add clause" }).click();
    await page.getByLabel("Property of clause 2").fill("pages");
    await page.getByLabel("Operator of clause 2").selectOption("gt");
    await page.getByLabel("Type of clause 2").selectOption("Edm.Int32");
    await page.getByLabel("Value of clause 2").fill("300");
    expect(await page.getByLabel("$filter").inputValue()).toBe(
      "PartitionKey eq 'books' and pages gt 300",
    );
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("4 entries").waitFor();
    await page.getByLabel("$filter").fill("title eq 'Title 7'");
    await page.getByLabel("$filter").press("Enter");
    await page.getByText("1 entry").waitFor();
    await row(page, "9007199254740999").waitFor();
  });

  it("edits an entity, keeps the types, and merges another client's change", async () => {
    const client = await filledTable("edited");
    const page = await here.open(`#/tables/${account}/edited`);
    await row(page, "Title 4").first().click();
    const detail = page.getByRole("complementary");
    await detail.getByLabel("Value of property 1").fill("A better title");
    await client.updateEntity({ partitionKey: "books", rowKey: "004", pages: 41 }, "Merge");
    await detail.getByRole("button", { name: "Save" }).click();
    await page.getByText("books/004 was changed by another client").waitFor();
    await page.getByRole("button", { name: "Save merge" }).click();
    await page.getByText("Entity books/004 saved").waitFor();
    const saved = await client.getEntity("books", "004", { disableTypeConversion: true });
    expect(saved["title"]).toEqual({ type: "String", value: "A better title" });
    expect(saved["pages"]).toMatchObject({ type: "Int32" });
    expect(Number((saved["pages"] as { value: unknown }).value)).toBe(41);
    expect(saved["visits"]).toEqual({ type: "Int64", value: "9007199254740996" });
    expect(saved["rating"]).toMatchObject({ type: "Double" });
  });

  it("imports the file that it exported", async () => {
    const client = await filledTable("moved");
    const page = await here.open(`#/tables/${account}/moved`);
    for (const form of ["CSV", "JSON"]) {
      await page.getByText("40 entries").waitFor();
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export" }).click();
      await page.getByRole("button", { name: form }).click();
      const path = await (await downloading).path();
      const before = await entitiesOf(client);
      for (const { partitionKey, rowKey } of before) {
        await client.deleteEntity(partitionKey, rowKey);
      }
      await page.getByRole("button", { name: "Import" }).click();
      const name = `entities.${form.toLowerCase()}`;
      const buffer = await readFile(path);
      const file = { name, mimeType: "text/plain", buffer };
      await page.getByLabel("CSV or JSON file").setInputFiles(file);
      await page.getByRole("dialog").getByRole("button", { name: "Import" }).click();
      await page.getByText("40 of 40 entities written").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
      expect(await entitiesOf(client)).toEqual(before);
    }
  });
});

describe("many entities", () => {
  it("are changed and deleted under their ETags, and shown in chosen columns", async () => {
    const client = await filledTable("many");
    const page = await here.open(`#/tables/${account}/many`);
    await page.getByText("40 entries").waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("checkbox", { name: "rating" }).uncheck();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("columnheader", { name: "rating" }).waitFor({ state: "detached" });
    await page.getByLabel("Sort by").selectOption("pages ↓");
    const first = page.locator(".work .grid-body .grid-row").first();
    await expect.poll(() => first.textContent()).toContain("Title 39");
    await page.getByLabel("Sort by").selectOption("Default order");
    await expect.poll(() => first.textContent()).toContain("Title 0");
    const selection = page.getByRole("toolbar", { name: "Selection" });
    await page.getByLabel("Select books / 000").click();
    await page.getByLabel("Select books / 004").click({ modifiers: ["Shift"] });
    await selection.getByText("3 selected").waitFor();
    await client.updateEntity({ partitionKey: "books", rowKey: "002", pages: 77 }, "Merge");
    await selection.getByRole("button", { name: "Change" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name of property 1").fill("shelf");
    await dialog.getByLabel("Value of property 1").fill("B2");
    await dialog.getByLabel("Remove these properties").fill("lent");
    await dialog.getByRole("button", { name: "Change entities" }).click();
    const change = page.getByRole("group", { name: "Change 3 entities" });
    await change.getByText("2 of 3, 1 failed").waitFor();
    expect((await client.getEntity("books", "002"))["shelf"]).toBeUndefined();
    await change.getByRole("button", { name: "Retry 1" }).click();
    await change.getByText("3 of 3").waitFor();
    const changed = await client.getEntity("books", "002");
    expect(changed).toMatchObject({ shelf: "B2", pages: 77, title: "Title 2" });
    expect(changed["lent"]).toBeUndefined();
    await page.getByRole("button", { name: "Select all" }).click();
    await page.getByLabel("Select books / 000").click();
    await selection.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page
      .getByRole("group", { name: /^Delete all/ })
      .getByText("39 of 39")
      .waitFor();
    expect(await entitiesOf(client)).toHaveLength(1);
  });
});

async function entitiesOf(client: TableClient) {
  const found: { partitionKey: string; rowKey: string }[] = [];
  const listing = client.listEntities({ disableTypeConversion: true });
  for await (const { etag: _etag, timestamp: _timestamp, ...entity } of listing) {
    found.push(entity as unknown as { partitionKey: string; rowKey: string });
  }
  return found;
}

describe("queues", () => {
  it("puts, gets, changes, returns, deletes and clears messages", async () => {
    const service = QueueServiceClient.fromConnectionString(here.server.connectionString);
    const queue = service.getQueueClient("by-hand");
    const page = await here.open(`#/queues/${account}`);
    await page.getByRole("button", { name: "New queue" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("by-hand");
    await page.getByRole("button", { name: "Create" }).click();
    await row(page, "by-hand").click();
    const put = async (text: string): Promise<void> => {
      await page.getByRole("button", { name: "Put message" }).click();
      await page.getByRole("textbox", { name: "Text" }).fill(text);
      await page.getByRole("button", { name: "Put", exact: true }).click();
    };
    const waiting = page.getByRole("region", { name: "Visible" });
    const inFlight = page.getByRole("region", { name: "In flight" });
    await put("first <& message");
    await waiting.getByText("first <& message").waitFor();
    await page.getByRole("button", { name: "Get messages" }).click();
    await page.getByLabel("Number of messages").fill("33");
    await page.getByRole("dialog").getByRole("button", { name: "Get" }).click();
    await page.getByText("Number of messages: must be a whole number from 1 to 32.").waitFor();
    await page.getByLabel("Number of messages").fill("1");
    await page.getByRole("dialog").getByRole("button", { name: "Get" }).click();
    const detail = page.getByRole("complementary");
    await inFlight.getByRole("button", { name: "Details" }).click();
    await detail.getByLabel("Pop receipt", { exact: true }).waitFor();
    await inFlight.getByRole("button", { name: "Edit message" }).click();
    await page.getByRole("textbox", { name: "Text" }).fill("changed");
    await page.getByRole("button", { name: "Save" }).click();
    await inFlight.getByText("changed").waitFor();
    await inFlight.getByRole("button", { name: "Details" }).click();
    await detail.getByText("Dequeue count").waitFor();
    // Another client's receipt is not shown.
    expect(await detail.getByLabel("Pop receipt", { exact: true }).count()).toBe(0);
    await inFlight.getByRole("button", { name: "Make visible" }).click();
    await waiting.getByText("changed").waitFor();
    await put(Buffer.from('{"a":[1]}').toString("base64"));
    await waiting.getByText('{"a":[1]}').waitFor();
    await page.getByLabel("Show text as").first().selectOption("Stored text");
    await waiting.getByText("eyJhIjpbMV19").waitFor();
    await page.getByLabel("Show text as").first().selectOption("JSON");
    await waiting.getByText('{ "a": [ 1 ] }').waitFor();
    const [taken] = (await queue.receiveMessages()).receivedMessageItems;
    expect(taken?.messageText).toBe("changed");
    await inFlight.getByRole("button", { name: "Delete message" }).click();
    await page.getByText("About 1 message,").waitFor();
    await put("to be cleared");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear" }).click();
    await page.getByText("About 0 messages").waitFor();
    expect((await queue.peekMessages()).peekedMessageItems).toEqual([]);
  });
});

describe("shares", () => {
  it("creates directories, uploads, shows ranges, renames and takes snapshots", async () => {
    const service = ShareServiceClient.fromConnectionString(here.server.connectionString);
    const share = service.getShareClient("papers");
    await share.create();
    const sparse = share.rootDirectoryClient.getFileClient("sparse.bin");
    await sparse.create(1024 * 1024);
    await sparse.uploadRange("x".repeat(512), 0, 512);
    await sparse.uploadRange("y".repeat(1024), 524_288, 1024);
    const page = await here.open(`#/shares/${account}/papers`);
    await page.getByRole("button", { name: "New folder" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("drafts");
    await page.getByRole("button", { name: "Create" }).click();
    await row(page, "drafts").click();
    const file = { name: "one.txt", mimeType: "text/plain", buffer: Buffer.from("draft one") };
    await page.getByText("No files").waitFor();
    await page.locator("[data-choose=files]").setInputFiles(file);
    await row(page, "one.txt").waitFor();
    await choose(page, "one.txt", "Rename");
    await page.getByLabel("Path in the share").fill("final.txt");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("link", { name: "papers" }).click();
    await row(page, "final.txt").waitFor();
    const moved = share.rootDirectoryClient.getFileClient("final.txt");
    expect((await moved.downloadToBuffer()).toString()).toBe("draft one");
    await page.getByRole("button", { name: "Snapshot share" }).click();
    await page.getByText("Snapshot created").waitFor();
    await row(page, "sparse.bin").click();
    await page.getByText("2 ranges, 1.5 KiB of 1.0 MiB").waitFor();
    await page.getByRole("tab", { name: "Content" }).click();
    await page.getByText("00000000  78 78 78").waitFor();
    await row(page, "final.txt").click();
    await page.getByRole("tab", { name: "Content" }).click();
    await page.locator(".preview-text", { hasText: "draft one" }).waitFor();
    await page.goto(`${here.server.adminUrl}/#/shares/${account}`);
    // A snapshot is deleted alone.
    const snapshot = row(page, "snapshot");
    await snapshot.getByRole("button", { name: /^Actions of the snapshot/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText(/^Delete the snapshot .* of papers with/).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await snapshot.waitFor({ state: "detached" });
    expect(await share.exists()).toBe(true);
    await choose(page, "papers", "Copy URL");
    await page.getByText(`${here.server.urls.file}/${account}/papers`).waitFor();
    await page.getByRole("button", { name: "Connect" }).click();
    const address = await page.getByLabel("SMB address", { exact: true }).inputValue();
    expect(address).toMatch(/^smb:\/\/127\.0\.0\.1:\d+\/SHARE$/);
  });
});

describe("properties", () => {
  it("of shares, files and queues are shown and changed, unless they have changed meanwhile", async () => {
    const { connectionString } = here.server;
    const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient("plans");
    await share.create();
    const file = share.rootDirectoryClient.getFileClient("plan.txt");
    await file.create(10);
    const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient("plans");
    await queue.create();
    const page = await here.open("#/shares");
    const openOf = async (): Promise<void> => {
      await page.getByRole("button", { name: "Actions of plans" }).click();
      await page.getByRole("menuitem", { name: "Properties" }).click();
    };
    const dialog = page.getByRole("dialog", { name: "Properties of plans" });
    const add = async (value: string): Promise<void> => {
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByLabel("Metadata name 1").fill("team");
      await page.getByLabel("Metadata value 1").fill(value);
      await page.getByRole("button", { name: "Save", exact: true }).click();
    };
    await openOf();
    await dialog.getByLabel("Quota (GiB)").fill("7");
    await dialog.getByRole("button", { name: "Save quota" }).click();
    await page.getByText("Quota saved").waitFor();
    await add("blue");
    await page.getByText("Metadata saved").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await share.getProperties()).toMatchObject({ quota: 7, metadata: { team: "blue" } });
    await dialog.getByRole("button", { name: "Close" }).click();
    await row(page, "plans").getByText("7 GiB").waitFor();

    await page.goto(`${here.server.adminUrl}/#/queues`);
    await row(page, "plans").waitFor();
    await openOf();
    await dialog.getByText("Messages").waitFor();
    await queue.setMetadata({ owner: "other" });
    await add("red");
    await dialog.getByText("Another client has changed the metadata").waitFor();
    expect((await queue.getProperties()).metadata).toEqual({ owner: "other" });

    const detail = await here.open(`#/shares/${account}/plans?file=plan.txt`);
    await detail.getByRole("button", { name: "Add", exact: true }).click();
    await detail.getByLabel("Metadata name 1").fill("state");
    await detail.getByLabel("Metadata value 1").fill("final");
    await detail.getByRole("button", { name: "Save", exact: true }).click();
    await detail.getByText("Metadata saved").waitFor();
    expect((await file.getProperties()).metadata).toEqual({ state: "final" });
  });
});
