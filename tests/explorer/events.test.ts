import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, describe, expect, it } from "vitest";
import { webhookReceiver } from "../events/webhook-receiver.ts";
import { axeFindings } from "./axe.ts";
import { account, explorer, putText, row, takePicture } from "./explorer.ts";

const receiver = await webhookReceiver();
const here = explorer({ eventWebhooks: `${receiver.url}/` });

afterAll(() => receiver[Symbol.asyncDispose]());

describe("event subscriptions", () => {
  it("are created, paused, changed and deleted; the log is shown live", async () => {
    const page = await here.open(`#/events/${account}`);
    await page.getByText("No subscriptions.").waitFor();
    await page.getByRole("button", { name: "New subscription" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("to-queue");
    await dialog.locator("[name=queue]").fill("changes");
    await dialog.getByLabel("Subject ends with").fill(".txt");
    await dialog.getByRole("button", { name: "Create" }).click();
    await row(page, "to-queue").click();
    await page.getByRole("complementary").getByText("queue changes").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("complementary").getByText("paused").waitFor();
    await putText(here, { container: "wiki", name: "one.txt", text: "1" });
    await putText(here, { container: "wiki", name: "two.md", text: "2" });
    await page.getByRole("complementary").getByText("2 events").waitFor();
    await takePicture(page, "events");
    expect(await axeFindings(page)).toEqual([]);
    const queues = QueueServiceClient.fromConnectionString(here.server.connectionString);
    await queues.createQueue("changes");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("complementary").getByText("0 events").waitFor();
    const peeked = await queues.getQueueClient("changes").peekMessages();
    expect(peeked.peekedMessageItems).toHaveLength(1);
    await page.getByRole("button", { name: "Change" }).click();
    await dialog.getByLabel("Subject ends with").fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    // The message about its creation may still be there.
    await page.getByText("Subscription to-queue saved").last().waitFor();
    await page.getByRole("complementary").getByText(".txt").waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Event log" }).click();
    await row(page, "one.txt").waitFor();
    await putText(here, { container: "wiki", name: "three.txt", text: "3" });
    await row(page, "three.txt").click();
    await page.getByRole("complementary").getByText('"contentLength": 1').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("tab", { name: "Subscriptions" }).click();
    await row(page, "to-queue").click();
    await page.getByRole("complementary").getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No subscriptions.").waitFor();
  });

  it("a mistake is shown in the dialog, and a change keeps what it does not name", async () => {
    const page = await here.open(`#/events/${account}`);
    await page.getByRole("button", { name: "New subscription" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("to-web");
    await dialog.getByLabel("Deliver to").selectOption("webhook");
    await dialog.locator("[name=url]").fill("http://127.0.0.1:9/hook");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("alert").getByText("WebhookNotListed").waitFor();
    await dialog.locator("[name=url]").fill(`${receiver.url}/hook?code=1`);
    await dialog.getByLabel("Secret for signatures").fill("12345678");
    await dialog.getByRole("button", { name: "Create" }).click();
    await row(page, "to-web").click();
    await page.getByRole("button", { name: "Change" }).click();
    await dialog.getByLabel("Schema").selectOption("CloudEventSchemaV1_0");
    await dialog.getByRole("button", { name: "Save" }).click();
    // The URL and the secret stay, although the page knows neither.
    await page.getByText("Subscription to-web saved").last().waitFor();
    const detail = page.getByRole("complementary");
    await detail.getByText("CloudEventSchemaV1_0").waitFor();
    expect(await detail.getByText("yes", { exact: true }).count()).toBe(1);
    expect(receiver.handshakes.at(-1)?.path).toBe("/hook?code=1");
  });
});
