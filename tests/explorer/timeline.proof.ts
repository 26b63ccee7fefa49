import { readFileSync } from "node:fs";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { beforeAll, describe, expect, it } from "vitest";
import { WireClient } from "../smb-wire/wire-client.ts";
import { lockBody, openFile } from "../smb-wire/wire-messages.ts";
import { axeFindings } from "./axe.ts";
import { account, explorer, putText, row, takePicture } from "./explorer.ts";

const here = explorer();

/** A client with its own name, so that it has a lane of its own. */
function client(program: string) {
  return BlobServiceClient.fromConnectionString(here.server.connectionString, {
    userAgentOptions: { userAgentPrefix: `${program}/1.0` },
    retryOptions: { maxTries: 1 },
  })
    .getContainerClient("wiki")
    .getBlockBlobClient("home.md");
}

beforeAll(async () => {
  await putText(here, { container: "wiki", name: "home.md", text: "one" });
  const [anna, ben] = [client("anna"), client("ben")];
  const { etag = "" } = await anna.upload("two", 3);
  await ben.upload("three", 5);
  await expect(anna.upload("four", 4, { conditions: { ifMatch: etag } })).rejects.toThrow();
  const lease = ben.getBlobLeaseClient();
  await lease.acquireLease(60);
  await expect(anna.delete()).rejects.toThrow();
});

const place = `service=blob&account=${account}&container=wiki&path=home.md`;

describe("the timeline of a blob", () => {
  it("shows clients, leases, and why an ETag was stale, from before the page was opened", async () => {
    const page = await here.open(`#/blobs/${account}/wiki?blob=home.md&tab=history`);
    await page.getByRole("link", { name: "Show as a picture" }).click();
    const picture = page.locator(".lanes svg");
    await picture.getByText("127.0.0.1 anna").waitFor();
    await picture.getByText("127.0.0.1 ben").waitFor();
    expect(await picture.locator(".stale-arrow").count()).toBe(1);
    expect(await picture.locator("rect.hold.lease").count()).toBe(1);
    expect(await picture.locator(".mark.refused").count()).toBe(2);
    expect(await picture.locator(".mark-etag").count()).toBeGreaterThan(0);
    await picture.locator("[data-what=refused]").first().dispatchEvent("pointerenter");
    await page.locator(".lane-tip").getByText("If-Match").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await takePicture(page, "timeline");
    // Paused, the picture stays; the address has the moment and the period.
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await client("late")
      .upload("five", 4)
      .catch(() => {});
    const same = await here.open(new URL(page.url()).hash, { colorScheme: "dark" });
    await same.locator(".lanes").waitFor();
    const length = await page.getByLabel("Period").inputValue();
    expect(await same.getByLabel("Period").inputValue()).toBe(length);
    await same.getByRole("button", { name: "Resume" }).waitFor();
    expect(await axeFindings(same)).toEqual([]);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByLabel("Period").selectOption("600");
    await picture.getByText("127.0.0.1 late").waitFor();
  });

  it("is reached from a rejected request that happened before", async () => {
    const page = await here.open("#/concurrency/refused");
    await row(page, "If-Match").click();
    await page.getByRole("link", { name: "Show as a picture" }).click();
    await page.locator(".stale-arrow").first().waitFor({ state: "attached" });
  });

  it("is saved as a file and opened elsewhere, without contents and keys", async () => {
    const page = await here.open(`#/timeline?${place}`);
    await page.getByText("127.0.0.1 anna").waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save last minute" }).click();
    const path = await (await downloading).path();
    const text = readFileSync(path, "utf8");
    expect(text).not.toMatch(/sig=|AccountKey|Eby8vdM02xNO/);
    const [one] = [await here.open("#/timeline")];
    await one.locator("[data-choose=recording]").setInputFiles(path);
    await one.getByText("recording from a file").waitFor();
    const choice = one.getByLabel("Object");
    await choice.locator("option").nth(1).waitFor({ state: "attached" });
    await one
      .locator("[data-choose=recording]")
      .setInputFiles({ name: "x.json", mimeType: "text/json", buffer: Buffer.from("{}") });
    await one.getByText("This file is not a recording").waitFor();
  });
});

describe("the timeline of a file and of a message", () => {
  it("shows opens, locks, and the time in flight", async () => {
    const service = ShareServiceClient.fromConnectionString(here.server.connectionString);
    const share = service.getShareClient("docs");
    await share.create();
    await share.rootDirectoryClient.getFileClient("plan.txt").create(100);
    const queue = QueueServiceClient.fromConnectionString(
      here.server.connectionString,
    ).getQueueClient("work");
    await queue.create();
    await queue.sendMessage("job");
    const page = await here.open(
      `#/timeline?service=file&account=${account}&container=docs&path=plan.txt`,
    );
    await page.getByText("recorded since").waitFor();
    const wire = await WireClient.ready(here.server.smbUrl, "docs");
    const handle = await openFile(wire, "plan.txt");
    await wire.ask(10, lockBody(handle, { at: 10, length: 20, flags: 0x12 }));
    await page.locator("rect.hold.open").waitFor();
    await page.locator("rect.hold.lock").waitFor();
    const { receivedMessageItems } = await queue.receiveMessages({ visibilityTimeout: 600 });
    const id = receivedMessageItems[0]?.messageId ?? "";
    const other = await here.open(`#/queues/${account}/work`);
    await other.getByRole("button", { name: "Details" }).first().click();
    await other.getByRole("link", { name: "Timeline of the message" }).click();
    await other.locator("rect.hold.message").waitFor();
    expect(new URL(other.url()).hash).toContain(id);
    // A page that shows another view subscribes again: what is held goes on as one bar.
    await other.close();
    await page.evaluate(`location.hash = "#/blobs"`);
    await page.getByRole("heading", { name: "Containers" }).waitFor();
    await page.goBack();
    await page.locator("rect.hold.lock").waitFor();
    expect(await page.locator("rect.hold.open").count()).toBe(1);
    expect(await page.locator("rect.hold.lock").count()).toBe(1);
    wire.end();
  });
});

describe("charts", () => {
  it("on the overview and by service show what the server has kept", async () => {
    const page = await here.open("#/overview");
    await page.getByRole("figure", { name: "Rejections by rule" }).waitFor();
    await page.getByLabel("Period").selectOption("hour");
    await page.getByText("1 hour ago").first().waitFor();
    const health = await here.open("#/health?service=blob&period=ten");
    const chart = health.getByRole("figure", { name: "Requests of blob" });
    await chart.getByText("10 minutes ago").waitFor();
    await health.getByRole("figure", { name: "Stored bytes" }).waitFor();
    expect(await axeFindings(health)).toEqual([]);
  });
});
