import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { describe, expect, it } from "vitest";
import { WireClient } from "../smb-wire/wire-client.ts";
import {
  Access,
  close,
  lockBody,
  openFile,
  renameInfo,
  setDeletePending,
  setInfo,
  write,
} from "../smb-wire/wire-messages.ts";
import { account, explorer, putText, row } from "./explorer.ts";

const here = explorer();
const container = "wiki";

describe("leases", () => {
  it("acquired by the SDK appear, count down and can be broken", async () => {
    await putText(here, { container, name: "home.md", text: "hello" });
    const page = await here.open("#/concurrency/leases");
    await page.getByText("No leases").waitFor();
    const blob = here.blobs.getContainerClient(container).getBlobClient("home.md");
    const lease = blob.getBlobLeaseClient();
    await lease.acquireLease(60);
    const shown = row(page, "wiki/home.md");
    await shown.getByText(lease.leaseId).waitFor();
    const secondsLeft = async (): Promise<number> =>
      Number.parseInt((await shown.locator(".time-left").textContent()) ?? "", 10);
    const before = await secondsLeft();
    await expect.poll(secondsLeft).toBeLessThan(before);
    await here.blobs.getContainerClient(container).getBlobLeaseClient().acquireLease(-1);
    await row(page, "infinite").waitFor();
    await shown.getByRole("button", { name: "Break" }).click();
    await shown.waitFor({ state: "detached" });
    expect((await blob.getProperties()).leaseState).toBe("broken");
  });
});

describe("rejected requests", () => {
  it("appear live, with the expected and the current value", async () => {
    await putText(here, { container, name: "races.md", text: "one" });
    const page = await here.open("#/concurrency/refused");
    await page.getByText("live", { exact: true }).waitFor();
    const blob = here.blobs.getContainerClient(container).getBlockBlobClient("races.md");
    const { etag } = await blob.getProperties();
    const wrong = '"0x8D0000000000001"';
    const refused = blob.upload("two", 3, { conditions: { ifMatch: wrong } });
    await expect(refused).rejects.toThrow();
    const unchanged = blob.getProperties({ conditions: { ifNoneMatch: etag ?? "" } });
    await expect(unchanged).rejects.toThrow();
    await blob.getBlobLeaseClient().acquireLease(30);
    await expect(blob.delete()).rejects.toThrow();
    const line = row(page, "If-Match");
    await line.getByText(wrong).waitFor();
    expect(await line.textContent()).toContain(etag);
    await row(page, "If-None-Match").getByText("304", { exact: true }).waitFor();
    await row(page, "held by").first().click();
    await page.getByRole("complementary").getByText("LeaseIdMissing").first().waitFor();
    await page.locator(".event.refused").first().waitFor();
    // The timeline records reads while it is shown: who read which ETag.
    const current = (await blob.getProperties()).etag ?? "";
    const read = page.locator(".event.read", { hasText: current.slice(-11, -1) });
    await expect
      .poll(async () => {
        await blob.download();
        return read.count();
      })
      .toBeGreaterThan(0);
    expect(await read.first().textContent()).toMatch(/Get Blob 200 by key, .*azsdk-js/);
  });
});

describe("SMB", () => {
  it("a byte-range lock appears with file and client, and disappears when its handle is closed", async () => {
    const service = ShareServiceClient.fromConnectionString(here.server.connectionString);
    const share = service.getShareClient("docs");
    await share.create();
    const file = share.rootDirectoryClient.getFileClient("plan.txt");
    await file.create(100);
    const page = await here.open("#/concurrency/smb");
    await page.getByText("No SMB sessions").waitFor();
    const client = await WireClient.ready(here.server.smbUrl, "docs");
    const handle = await openFile(client, "plan.txt");
    await client.ask(10, lockBody(handle, { at: 10, length: 20, flags: 0x12 }));
    const second = await openFile(client, "going.txt");
    await setDeletePending(client, second, true);
    const shown = page.getByRole("article", { name: "plan.txt" });
    await shown.getByText("bytes 10–29 exclusive").waitFor();
    await page.getByText("delete pending").waitFor();
    await shown.getByRole("button", { name: "Close handle" }).click();
    await shown.waitFor({ state: "detached" });
    client.end();
  });

  it("a session is closed only after a question", async () => {
    const service = ShareServiceClient.fromConnectionString(here.server.connectionString);
    const share = service.getShareClient("closing");
    await share.create();
    const file = share.rootDirectoryClient.getFileClient("plan.txt");
    await file.create(100);
    const client = await WireClient.ready(here.server.smbUrl, "closing");
    const handle = await openFile(client, "plan.txt");
    await client.ask(10, lockBody(handle, { at: 0, length: 5, flags: 0x12 }));
    const page = await here.open("#/concurrency/smb");
    const shown = page.getByRole("article", { name: "plan.txt" });
    await shown.waitFor();
    const question = page.getByRole("dialog", { name: "Close session" });
    await page.getByRole("button", { name: "Close session" }).click();
    await question.getByText(/Close the session of .* with 1 open handle\?/).waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "detached" });
    // Nothing was closed: the lock still rejects a write.
    await expect(file.uploadRange("x", 0, 1)).rejects.toMatchObject({ code: "FileLockConflict" });
    await page.getByRole("button", { name: "Close session" }).click();
    await question.getByRole("button", { name: "Close session" }).click();
    await page.getByText("Session closed").waitFor();
    await shown.waitFor({ state: "detached" });
    await file.uploadRange("x", 0, 1);
    client.end();
  });
});

describe("messages", () => {
  it("a message that was received and not deleted becomes visible again", async () => {
    const service = QueueServiceClient.fromConnectionString(here.server.connectionString);
    const queue = service.getQueueClient("work");
    await queue.create();
    await queue.sendMessage("resize picture 7");
    const page = await here.open(`#/queues/${account}/work`);
    const waiting = page.getByRole("region", { name: "Visible" });
    const inFlight = page.getByRole("region", { name: "In flight" });
    await waiting.getByText("resize picture 7").waitFor();
    const { receivedMessageItems } = await queue.receiveMessages({ visibilityTimeout: 600 });
    await inFlight.getByText("resize picture 7").waitFor();
    await inFlight.getByText("returns in").waitFor();
    await waiting.getByText("resize picture 7").waitFor({ state: "detached" });
    // Only now the time begins to run, however long the page took to show the message.
    for (const { messageId, popReceipt } of receivedMessageItems) {
      await queue.updateMessage(messageId, popReceipt, undefined, 2);
    }
    await waiting.getByText("resize picture 7").waitFor();
    await waiting.getByText("dequeued 1 time").waitFor();
    await inFlight.getByText("resize picture 7").waitFor({ state: "detached" });
  });
});

describe("the list of a share", () => {
  it("follows SMB clients that create, write, rename and delete", async () => {
    const service = ShareServiceClient.fromConnectionString(here.server.connectionString);
    await service.getShareClient("followed").createIfNotExists();
    const smb = await WireClient.ready(here.server.smbUrl, "followed");
    try {
      const page = await here.open(`#/shares/${account}/followed`);
      await page.getByText("No files").first().waitFor();
      const everything = { access: Access.all, share: 7 };
      const handle = await openFile(smb, "first.txt", everything);
      await row(page, "first.txt").getByText("0 B").waitFor();
      await write(smb, handle, "twelve bytes");
      await close(smb, handle);
      await row(page, "first.txt").getByText("12 B").waitFor();
      const again = await openFile(smb, "first.txt", everything);
      await setInfo(smb, again, 10, renameInfo("second.txt"));
      await row(page, "second.txt").waitFor();
      await row(page, "first.txt").waitFor({ state: "detached" });
      await setDeletePending(smb, again, true);
      await close(smb, again);
      await row(page, "second.txt").waitFor({ state: "detached" });
    } finally {
      smb.end();
    }
  });
});

describe("health", () => {
  it("charts the server's activity every second", async () => {
    await putText(here, { container, name: "busy.txt", text: "busy" });
    const page = await here.open("#/health");
    await page.getByText("Busiest operations").waitFor();
    const blob = here.blobs.getContainerClient(container).getBlockBlobClient("busy.txt");
    const chart = page.getByRole("figure", { name: "Requests" });
    const shown = async (): Promise<number> => {
      for (let calls = 0; calls < 20; calls += 1) await blob.upload("busy", 4);
      return Number.parseFloat((await chart.locator("strong").first().textContent()) ?? "");
    };
    await expect.poll(shown).toBeGreaterThan(0);
    const points = async (): Promise<number> =>
      (await chart.locator(".stroke").first().getAttribute("d"))?.match(/L/g)?.length ?? 0;
    await expect.poll(() => shown().then(points)).toBeGreaterThan(5);
    // The server has kept samples from before the page was opened.
    const opened = await here.open("#/health");
    const since = opened.getByRole("figure", { name: "Requests" });
    await opened.getByLabel("Period").selectOption("hour");
    await since.getByText("1 hour ago").waitFor();
    expect(await opened.getByRole("figure").count()).toBe(8);
    await expect
      .poll(async () => (await since.locator(".stroke").first().getAttribute("d"))?.length)
      .toBeGreaterThan(40);
  });
});
