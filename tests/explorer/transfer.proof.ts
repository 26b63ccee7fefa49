import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { deflateRawSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { avroBlock, AvroEncoder, avroHeader } from "../../src/encoding/avro.ts";
import { axeFindings } from "./axe.ts";
import { account, choose, explorer, putText, row } from "./explorer.ts";

const other = "secondaccount";
const otherKey = Buffer.alloc(64, 7).toString("base64");
const here = explorer({
  isLoggedIn: true,
  adminToken: "a token of some length",
  accounts: {
    [account]: { keys: [developmentAccountKey] },
    [other]: { keys: [otherKey] },
  },
});

/** A client of the second account. */
function otherBlobs(): BlobServiceClient {
  const { connectionString } = here.server;
  const own = connectionString
    .replaceAll(account, other)
    .replace(developmentAccountKey, () => otherKey);
  return BlobServiceClient.fromConnectionString(own);
}

beforeAll(async () => {
  for (const name of ["one.txt", "two.txt", "folder/three.txt"]) {
    await putText(here, { container: "wiki", name, text: name });
  }
  await otherBlobs().getContainerClient("archive").create();
});

describe("blobs", () => {
  it("are copied to another account with a picker, and cut and pasted", async () => {
    const page = await here.open(`#/blobs/${account}/wiki`);
    await choose(page, "one.txt", "Copy to…");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Target account").selectOption(other);
    await dialog.locator("datalist option[value=archive]").waitFor({ state: "attached" });
    await dialog.locator("[name=container]").fill("archive");
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    const copied = otherBlobs().getContainerClient("archive").getBlobClient("one.txt");
    await expect.poll(() => copied.exists()).toBe(true);
    await row(page, "two.txt").getByRole("checkbox").click();
    await page.keyboard.press("Control+x");
    await page.getByText("Cut 1 entry").waitFor();
    await page.evaluate(`location.hash = "#/blobs/${other}/archive"`);
    await row(page, "one.txt").waitFor();
    await page.getByRole("button", { name: "Paste" }).click();
    await row(page, "two.txt").waitFor();
    const source = here.blobs.getContainerClient("wiki").getBlobClient("two.txt");
    await expect.poll(() => source.exists()).toBe(false);
  });

  it("are dragged to a folder", async () => {
    const page = await here.open(`#/blobs/${account}/wiki`);
    await row(page, "one.txt").dragTo(row(page, "folder/"));
    const moved = here.blobs.getContainerClient("wiki").getBlobClient("folder/one.txt");
    await expect.poll(() => moved.exists()).toBe(true);
    await row(page, "one.txt").waitFor({ state: "detached" });
  });

  it("have leases of any duration, whose holder is shown", async () => {
    await putText(here, { container: "wiki", name: "leased.txt", text: "x" });
    const blob = here.blobs.getContainerClient("wiki").getBlobClient("leased.txt");
    const lease = blob.getBlobLeaseClient();
    await lease.acquireLease(-1);
    const page = await here.open(`#/blobs/${account}/wiki?blob=leased.txt&tab=access`);
    const detail = page.getByRole("complementary");
    await detail.getByText("it is released").waitFor();
    await detail.getByText(/azsdk-js/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await detail.locator("[name=leaseId]").fill(lease.leaseId);
    await detail.getByRole("button", { name: "Release lease" }).click();
    await detail.getByText("available", { exact: true }).waitFor();
    await detail.locator("[name=seconds]").fill("20");
    await detail.getByRole("button", { name: "Acquire lease" }).click();
    await detail.getByText("this page").waitFor();
    await detail.locator("[name=period]").fill("10");
    await detail.getByRole("button", { name: "Break lease" }).click();
    await detail.getByText("breaking", { exact: true }).waitFor();
    expect((await blob.getProperties()).leaseState).toBe("breaking");
  });
});

describe("containers and accounts", () => {
  it("are created with an access level, and found in a picker", async () => {
    const page = await here.open(`#/blobs/${account}`);
    await page.getByRole("button", { name: "New container" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("[name=name]").fill("public");
    await dialog.getByLabel("Access level").selectOption("blob");
    await dialog.getByRole("button", { name: "Create" }).click();
    await row(page, "public").getByText("public: blob").waitFor();
    await page.evaluate(`location.hash = "#/settings/${account}/access/blob"`);
    await page.locator("datalist option[value=public]").waitFor({ state: "attached" });
  });

  it("accounts are created and deleted with the admin token", async () => {
    const page = await here.open(`#/settings/${account}/account`);
    await page.getByRole("button", { name: "New account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("[name=name]").fill("thirdaccount");
    await dialog.getByLabel("Keep versions of blobs").check();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Account thirdaccount created" }).waitFor();
    await dialog.getByLabel("Key 1", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Open account" }).click();
    await page.getByText("No containers.").waitFor();
    await page.evaluate(`location.hash = "#/settings/thirdaccount/account"`);
    await page.getByRole("button", { name: "Delete account" }).click();
    await dialog.locator("[name=typed]").fill("thirdaccount");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => page.locator("option[value=thirdaccount]").count()).toBe(0);
  });
});

describe("other services", () => {
  it("messages are moved to another queue", async () => {
    const queues = QueueServiceClient.fromConnectionString(here.server.connectionString);
    for (const name of ["from", "into"]) await queues.createQueue(`queue-${name}`);
    for (const text of ["a", "b"]) await queues.getQueueClient("queue-from").sendMessage(text);
    const page = await here.open(`#/queues/${account}/queue-from`);
    await page.getByRole("button", { name: "Move messages" }).click();
    await page.getByRole("dialog").locator("[name=queue]").fill("queue-into");
    await page.getByRole("dialog").getByRole("button", { name: "Move" }).click();
    const into = queues.getQueueClient("queue-into");
    const count = async () => (await into.getProperties()).approximateMessagesCount;
    await expect.poll(count).toBe(2);
    await page.getByText("No visible messages").waitFor();
  });

  it("text files of shares are edited, and a change in between is merged", async () => {
    const shares = ShareServiceClient.fromConnectionString(here.server.connectionString);
    const share = shares.getShareClient("papers");
    await share.create();
    const file = share.rootDirectoryClient.getFileClient("plan.txt");
    await file.uploadData(Buffer.from("first\nsecond\nthird\n"));
    const page = await here.open(`#/shares/${account}/papers?file=plan.txt&tab=content`);
    await page.getByRole("button", { name: "Edit" }).click();
    const text = page.getByLabel("Text of plan.txt");
    await text.fill("FIRST\nsecond\nthird\n");
    await file.uploadData(Buffer.from("first\nsecond\nTHIRD!\n"));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Save merge" }).click();
    await page.getByText("plan.txt saved").waitFor();
    expect((await file.downloadToBuffer()).toString()).toBe("FIRST\nsecond\nTHIRD!\n");
    expect((await file.getProperties()).leaseState).toBe("available");
  });

  it("CSV files are imported with the types that their columns have", async () => {
    const table = TableClient.fromConnectionString(here.server.connectionString, "cities", {
      allowInsecureConnection: true,
    });
    await table.createTable();
    const page = await here.open(`#/tables/${account}/cities`);
    await page.getByRole("button", { name: "Import" }).click();
    const dialog = page.getByRole("dialog");
    const csv = "land,city,people,big\nde,Berlin,3700000,true\nde,Ulm,126000,false\n";
    await dialog
      .locator("input[type=file]")
      .setInputFiles({ name: "c.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    expect(await dialog.getByLabel("Column of the RowKey").inputValue()).toBe("city");
    expect(await dialog.getByLabel("Type of big").inputValue()).toBe("Edm.Boolean");
    await dialog.getByLabel("Type of people").selectOption("Edm.Int64");
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Import" }).click();
    await dialog.getByText("2 of 2 entities written").waitFor();
    const entity = await table.getEntity("de", "Ulm");
    expect(entity["people"]).toBe(126000n);
    expect(entity["big"]).toBe(false);
  });
});

const marker = new Uint8Array(16).fill(9);
const schema = {
  type: "record",
  name: "Person",
  fields: [
    { name: "name", type: "string" },
    { name: "age", type: ["null", "long"] },
    { name: "friend", type: ["null", "Person"] },
    { name: "tags", type: { type: "map", values: "string" } },
  ],
};

/** An Avro file of two people, the second one without an age. */
function avroFile(codec: "null" | "deflate"): Buffer {
  const encoder = new AvroEncoder();
  const person = (name: string, age: number | undefined): void => {
    encoder.text(name);
    encoder.nullable(age, (value) => encoder.long(value));
  };
  person("Anna", 41);
  encoder.long(1);
  person("Ben", -7);
  encoder.long(0);
  encoder.map({}, () => {});
  encoder.map({ town: "Ulm" }, (value) => encoder.text(value));
  person("Chris", undefined);
  encoder.long(0);
  encoder.map({}, () => {});
  const rows = encoder.take();
  const block = codec === "deflate" ? deflateRawSync(rows) : rows;
  const header = avroHeader({ "avro.schema": JSON.stringify(schema), "avro.codec": codec }, marker);
  return Buffer.concat([header, avroBlock(2, block, marker)]);
}

describe("Avro files", () => {
  it.each(["null", "deflate"] as const)("with the codec %s show rows and schema", async (codec) => {
    const container = here.blobs.getContainerClient("avro");
    await container.createIfNotExists();
    await container.getBlockBlobClient(`${codec}.avro`).uploadData(avroFile(codec));
    const page = await here.open(`#/blobs/${account}/avro?blob=${codec}.avro&tab=content`);
    const rows = page.getByRole("complementary").getByRole("row");
    await rows.filter({ hasText: "Anna" }).getByText("41").waitFor();
    expect(await rows.filter({ hasText: "Anna" }).textContent()).toContain('{"town":"Ulm"}');
    expect(await rows.filter({ hasText: "Anna" }).textContent()).toContain('"age":-7');
    await rows.filter({ hasText: "Chris" }).waitFor();
    await page.getByText("Schema").click();
    await page.getByText('"name": "Person"').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it("that are damaged are named as such", async () => {
    const container = here.blobs.getContainerClient("avro");
    await container.createIfNotExists();
    await container.getBlockBlobClient("bad.avro").uploadData(Buffer.from("Obj\x02 nonsense"));
    const page = await here.open(`#/blobs/${account}/avro?blob=bad.avro&tab=content`);
    await page.getByText("this is no Avro file").waitFor();
  });
});
