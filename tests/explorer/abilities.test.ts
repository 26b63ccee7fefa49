import { TableClient } from "@azure/data-tables";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { account, explorer, putText, row } from "./explorer.ts";

const secret = "a-secret-of-the-principals";
const rolesOf = (principal: string, ...roles: readonly string[]) =>
  roles.map((role) => ({ principal, role: `Storage ${role}`, account }));
const here = explorer({
  adminToken: "a token of some length",
  accounts: { [account]: {} },
  identity: {
    principals: {
      reader: { objectId: "aaaaaaaa-0000-4000-8000-000000000001", secret },
      contributor: { objectId: "aaaaaaaa-0000-4000-8000-000000000002", secret },
    },
    roleAssignments: [
      ...rolesOf("reader", "Blob Data Reader", "Queue Data Reader", "Table Data Reader"),
      ...rolesOf("reader", "File Data Privileged Reader"),
      ...rolesOf("contributor", "Blob Data Contributor", "Queue Data Contributor"),
    ],
  },
});

beforeAll(async () => {
  const { connectionString } = here.server;
  await putText(here, { container: "reports", name: "a.txt", text: "figures" });
  await putText(here, { container: "reports", name: "plain.txt", text: "first" });
  const reports = here.blobs.getContainerClient("reports");
  await reports.getBlobClient("a.txt").setTags({ stage: "final" });
  await reports.getBlobClient("a.txt").setMetadata({ checked: "yes" });
  await reports.getBlobClient("plain.txt").getBlobLeaseClient().acquireLease(-1);
  const space = 'xmlns="http://www.w3.org/2000/svg"';
  const picture = `<svg ${space} width="9" height="9"></svg>`;
  await reports.getBlockBlobClient("dot.svg").upload(picture, picture.length, {
    blobHTTPHeaders: { blobContentType: "image/svg+xml" },
  });
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient("work");
  await queue.create();
  await queue.sendMessage("in flight");
  await queue.receiveMessages({ visibilityTimeout: 3600 });
  await queue.sendMessage("visible");
  const insecure = { allowInsecureConnection: true };
  const table = TableClient.fromConnectionString(connectionString, "books", insecure);
  await table.createTable();
  await table.createEntity({ partitionKey: "p", rowKey: "one", pages: 10 });
  const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient("papers");
  await share.create();
  await share.createFile("plan.txt", 10);
});

async function openAs(principal: string, hash: string): Promise<Page> {
  const page = await here.open("#/none");
  const headers = { "x-etagere-admin": "1", "content-type": "application/json" };
  const data = { principal, secret };
  await page.context().request.post(`${here.server.adminUrl}/admin/v1/session`, { headers, data });
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.reload();
  await page.getByText(`as ${principal}`, { exact: true }).waitFor();
  return page;
}

/** Names of the commands in the page and in open menus, without columns that sort. */
const commands = `[...document.querySelectorAll(
    "main button:not([role=tab]), main a.button, [role=menuitem]"
  )]
  .filter((one) => one.checkVisibility() && one.closest(".grid-head") === null)
  .map((one) => (one.getAttribute("aria-label") ?? one.textContent).trim())`;
const editable = `[...document.querySelectorAll(
  ".detail-body input:not([readonly]), .detail-body textarea, .detail-body select:not([disabled])"
)].filter((one) => one.closest("form") === null)
  .filter((one) => one.closest("label")?.textContent.startsWith("Show") !== true).length`;

/** What reads, selects or changes the view only. A reader may sign what it may read. */
const harmless = new Set(
  [
    "Add clause, Clear selection, Close details, Columns, Copy URL, Count, Count blobs, Deleted",
    "Details, Download, Download zip, Export, Flat, History, Open, Refresh, Run query, Select all",
    "Properties, Show, Show as a picture, Create SAS URL",
  ].flatMap((line) => line.split(", ")),
);
const isHarmless = (name: string): boolean => harmless.has(name) || name.startsWith("Actions of ");

type Place = readonly [
  hash: string,
  ready: string,
  menuOf?: string | undefined,
  tabs?: readonly string[],
];

const places: readonly Place[] = [
  [`#/blobs/${account}`, "reports", "reports"],
  [`#/blobs/${account}/reports`, "a.txt", "a.txt"],
  [
    `#/blobs/${account}/reports?blob=a.txt`,
    "BlockBlob",
    undefined,
    ["Overview", "Content", "Metadata", "History", "Access"],
  ],
  [`#/blobs/${account}/reports?details=1`, "Public access", undefined, ["Overview", "Access"]],
  [`#/tables/${account}`, "books", "books"],
  [`#/tables/${account}/books`, "one", "p / one"],
  [`#/queues/${account}`, "work", "work"],
  [`#/queues/${account}/work`, "visible"],
  [`#/shares/${account}`, "permit to open names, but not to list them"],
  [`#/shares/${account}/papers`, "plan.txt", "plan.txt"],
  [
    `#/shares/${account}/papers?file=plan.txt`,
    "Written ranges",
    undefined,
    ["Overview", "Handles", "Access"],
  ],
  ["#/concurrency/leases", "plain.txt"],
];

async function commandsAt(page: Page, [hash, ready, menuOf, tabs = []]: Place) {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.locator("main").getByText(ready).first().waitFor();
  const found = await page.evaluate<string[]>(commands);
  for (const name of tabs) {
    await page.getByRole("tab", { name, exact: true }).click();
    await expect.poll(() => page.getByText("Loading…").count()).toBe(0);
    found.push(...(await page.evaluate<string[]>(commands)));
    expect([hash, name, await page.evaluate(editable)]).toEqual([hash, name, 0]);
  }
  if (menuOf === undefined) return found;
  await page.getByRole("button", { name: `Actions of ${menuOf}`, exact: true }).click();
  found.push(...(await page.evaluate<string[]>(commands)));
  await page.keyboard.press("Escape");
  return found;
}

describe("a principal that only reads", () => {
  it("sees no command and no field that changes something, in any service", async () => {
    const page = await openAs("reader", "#/overview");
    for (const place of places) {
      const found = await commandsAt(page, place);
      if (place[2] !== undefined) expect(found.length, place[0]).toBeGreaterThan(2);
      expect([place[0], found.filter((name) => !isHarmless(name))]).toEqual([place[0], []]);
    }
    // Keys of lists, too: no dialog opens.
    await commandsAt(page, [`#/blobs/${account}/reports`, "a.txt"]);
    await page.getByRole("grid").focus();
    for (const key of ["Delete", "F2"]) await page.keyboard.press(key);
    await page.keyboard.press("Space");
    const bar = page.getByRole("toolbar", { name: "Selection" });
    await bar.waitFor();
    expect(await bar.getByRole("button").allTextContents()).toEqual(["Download zip", "Count", ""]);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await commandsAt(page, [`#/tables/${account}/books`, "one"]);
    await row(page, "one").click();
    await page.getByRole("complementary").getByText("Timestamp").waitFor();
    expect(await page.evaluate(editable)).toBe(0);
  });
});

describe("a principal that writes", () => {
  it("sees the commands of its role, previews images, and keeps tags it may not read", async () => {
    const page = await openAs("contributor", `#/blobs/${account}/reports?blob=dot.svg`);
    for (const name of ["Upload", "New blob", "Copy", "Rename", "Snapshot"]) {
      await page.getByRole("button", { name, exact: true }).waitFor();
    }
    await page.getByRole("tab", { name: "Content" }).click();
    const image = page.getByRole("img", { name: "dot.svg" });
    await expect
      .poll(() =>
        image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth),
      )
      .toBe(9);
    await page.getByRole("tab", { name: "Access" }).click();
    await page.getByRole("button", { name: "Acquire lease" }).waitFor();
    await row(page, "a.txt").click();
    await page.getByRole("tab", { name: "Content" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Text of a.txt").fill("other figures");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").getByText("The blob has tags, which would be lost.").waitFor();
    const blob = here.blobs.getContainerClient("reports").getBlobClient("a.txt");
    expect((await blob.getTags()).tags).toEqual({ stage: "final" });
    expect((await blob.downloadToBuffer()).toString()).toBe("figures");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByRole("button", { name: "Discard changes" }).click();
    await page.evaluate(`location.hash = "#/queues/${account}/work"`);
    for (const name of ["Put message", "Get messages", "Clear queue", "Make visible"]) {
      await page.getByRole("button", { name, exact: true }).waitFor();
    }
  });
});
