import { BlobServiceClient } from "@azure/storage-blob";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { axeFindings } from "./axe.ts";
import { fillDemo, holdDemo, rejectDemo } from "./demo-data.ts";
import { account, explorer, row, takePicture } from "./explorer.ts";

const here = explorer({
  isLoggedIn: true,
  adminToken: "a token of some length",
  accounts: { [account]: { keys: [developmentAccountKey], versioning: true } },
});
/** Points of a chart before its picture is taken: documents show a minute of load. */
const chartPointsMin = process.env["ETAGERE_PICTURES"] === undefined ? 5 : 50;
const waitMillisecondsMax = 100_000;
let release = (): void => {};

beforeAll(async () => {
  await fillDemo(here.server);
  release = await holdDemo(here.server);
});
afterAll(() => release());

const tab = (page: Page, name: string) => page.getByRole("tab", { name }).click();
const library = `#/blobs/${account}/library`;
const report = "reports/2026/01-sales-report-of-the-month.txt";

type View = readonly [name: string, hash: string, ready: string | RegExp];

/** The views that need no further action. */
const views: readonly View[] = [
  ["leases", "#/concurrency/leases", "infinite"],
  ["smb", "#/concurrency/smb", /bytes 0–9 exclusive/],
  ["waits", "#/concurrency/waits", "Deadlock: 127.0.0.1"],
  ["overview", "#/overview", "Slow operations"],
  ["share", `#/shares/${account}/documents?file=disk.img`, /^2 ranges/],
  ["queue", `#/queues/${account}/thumbnails`, "holiday-5.jpg"],
  ["table", `#/tables/${account}/orders`, "Customer 1"],
  ["settings", `#/settings/${account}`, "Keep deleted blobs"],
  ["blob", `${library}?blob=catalogue.csv`, "BlockBlob"],
];

/** Buttons in lists whose cell is too narrow for them. */
const clipped = `[...document.querySelectorAll(".cell:has(button)")].flatMap((cell) =>
  cell.scrollWidth > cell.clientWidth + 1 ? [cell.textContent] : [])`;
const overflow = `document.documentElement.scrollWidth - innerWidth`;

describe("with the data of a company", () => {
  it.each(views)(
    "the view %s shows data without accessibility findings",
    async (name, hash, ready) => {
      const page = await here.open(hash);
      await page.getByText(ready).first().waitFor();
      await takePicture(page, name);
      expect(await axeFindings(page)).toEqual([]);
      expect(await page.evaluate(clipped)).toEqual([]);
      expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    },
  );

  it("fit a phone without accessibility findings", async () => {
    const page = await here.open("#/none", { viewport: { width: 390, height: 844 } });
    for (const [name, hash, ready] of [...views, ["", "#/principals", "Roles"] as const]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.locator("main").getByText(ready).first().waitFor();
      expect([name, await axeFindings(page), await page.evaluate(overflow)]).toEqual([name, [], 0]);
    }
  });

  it("a phone and dark colours show the same", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
    const small = await here.open(library, phone);
    await row(small, "catalogue.csv").waitFor();
    await takePicture(small, "phone");
    const dark = await here.open(`${library}?blob=README.md`, { colorScheme: "dark" });
    await tab(dark, "Content");
    await dark.getByText("Books, reports and scans").waitFor();
    await takePicture(dark, "dark");
  });

  it("rejected requests have a reason and a timeline", async () => {
    const page = await here.open("#/concurrency/refused");
    await page.getByText("live", { exact: true }).waitFor();
    await rejectDemo(here.server);
    const client = BlobServiceClient.fromConnectionString(here.server.connectionString);
    const blob = client.getContainerClient("library").getBlobClient(report);
    await row(page, "If-Match").first().getByText("412").click();
    const reads = page.locator(".event.read");
    await expect
      .poll(async () => blob.download().then(() => reads.count()), { timeout: 20_000 })
      .toBeGreaterThan(0);
    await takePicture(page, "refused");
    expect(await axeFindings(page)).toEqual([]);
  });

  it("health charts the load", { timeout: 2 * waitMillisecondsMax }, async () => {
    const page = await here.open("#/health");
    await page.getByText("Busiest operations").waitFor();
    const blobs = BlobServiceClient.fromConnectionString(here.server.connectionString);
    const container = blobs.getContainerClient("backups");
    let round = 0;
    const load = async (): Promise<number> => {
      round += 1;
      for (let call = 0; call < 20 + (round % 9) * 5; call += 1) {
        await container.getBlockBlobClient(`load-${call}.txt`).upload("x".repeat(2000), 2000);
        await container.getBlobClient(`load-${call}.txt`).downloadToBuffer();
      }
      const line = page.getByRole("figure", { name: "Requests" }).locator(".stroke").first();
      return (await line.getAttribute("d"))?.match(/L/g)?.length ?? 0;
    };
    await expect
      .poll(load, { timeout: waitMillisecondsMax, interval: 200 })
      .toBeGreaterThan(chartPointsMin);
    await takePicture(page, "health");
    expect(await axeFindings(page)).toEqual([]);
  });
});
