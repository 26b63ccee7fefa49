import { TableClient } from "@azure/data-tables";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { account, explorer, putText, row } from "./explorer.ts";

const here = explorer({
  accounts: {
    [account]: { keys: [developmentAccountKey], versioning: true },
  },
});

const longName = (index: number): string =>
  `quarterly-report-of-the-northern-region-2026-${String(index).padStart(2, "0")}.txt`;

beforeAll(async () => {
  for (let index = 0; index < 30; index += 1) {
    await putText(here, { container: "wiki", name: longName(index), text: `text ${index}` });
  }
  await here.blobs
    .getContainerClient("wiki")
    .getBlockBlobClient("0-tagged.bin")
    .upload("x", 1, {
      metadata: { project: "apollo" },
      tier: "Cool",
    });
  const table = TableClient.fromConnectionString(here.server.connectionString, "books", {
    allowInsecureConnection: true,
  });
  await table.createTable();
  await table.createEntity({ partitionKey: "a&b", rowKey: "first", pages: 10 });
  await table.createEntity({ partitionKey: "a&b", rowKey: "second", pages: 20 });
});

const wiki = `#/blobs/${account}/wiki`;
const nameWidths = `[...document.querySelectorAll(".work .grid-body .name")].map((name) =>
  name.parentElement.clientWidth)`;
const visibleNames = `[...document.querySelectorAll(".work .grid-body .name-tail")].map((tail) => {
  const cell = tail.closest(".cell").getBoundingClientRect();
  const { left, right } = tail.getBoundingClientRect();
  return left >= cell.left && right <= cell.right + 1;
})`;

describe("a list", () => {
  it.each([
    [1024, 120],
    [1280, 200],
    [1440, 200],
  ])("beside details in %i pixels has readable names", async (width, nameMin) => {
    const page = await here.open(`${wiki}?blob=${longName(3)}`, {
      viewport: { width, height: 800 },
    });
    await page.getByText("BlockBlob").waitFor();
    await row(page, longName(3)).waitFor();
    const widths = await page.evaluate<readonly number[]>(nameWidths);
    expect(Math.min(...widths)).toBeGreaterThanOrEqual(nameMin);
    // The end of each name is visible: names often differ only there.
    const isVisible = await page.evaluate<readonly boolean[]>(visibleNames);
    expect(isVisible.length).toBeGreaterThan(5);
    expect(isVisible.every(Boolean)).toBe(true);
  });

  it("shows chosen columns, with metadata, and keeps them in the address", async () => {
    const page = await here.open(wiki);
    await page.getByRole("button", { name: "Columns" }).click();
    for (const name of ["Created", "Tier", "Metadata"]) await page.getByLabel(name).check();
    await page.getByRole("button", { name: "Done" }).click();
    await row(page, "0-tagged.bin").getByText("project=apollo").waitFor();
    await row(page, "0-tagged.bin").getByText("Cool", { exact: true }).last().waitFor();
    const other = await here.open(new URL(page.url()).hash);
    await row(other, "0-tagged.bin").getByText("project=apollo").waitFor();
  });

  it("follows the changes of other clients, and keeps what is read in its place", async () => {
    const page = await here.open(wiki);
    await row(page, longName(0)).waitFor();
    const top = `document.querySelector(".work .grid-body").scrollTop = 360`;
    await page.evaluate(top);
    await row(page, longName(12)).waitFor();
    const before = await row(page, longName(12)).boundingBox();
    await putText(here, { container: "wiki", name: "a-new-one.txt", text: "new" });
    await page.getByText("32 entries").waitFor();
    const after = await row(page, longName(12)).boundingBox();
    expect(after?.y).toBe(before?.y);
    await here.blobs.getContainerClient("wiki").deleteBlob("a-new-one.txt");
    await page.getByText("31 entries").waitFor();
  });
});

async function isFocused(page: Page, role: string): Promise<boolean> {
  return page.evaluate<boolean>(`document.activeElement.getAttribute("role") === "${role}"`);
}

describe("the keyboard", () => {
  it("reaches the list with the skip link, and its end with one key", async () => {
    const page = await here.open(wiki);
    await row(page, longName(0)).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await isFocused(page, "grid")).toBe(true);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: longName(0) }).waitFor();
  });

  it("End goes to the last of 10,000 rows", async () => {
    const page = await here.open("#/tables");
    const rowsMax = 10_000;
    await page.route(/\/storage\/blob\/.*comp=list/, (route) => {
      const { searchParams } = new URL(route.request().url());
      const start = Number(searchParams.get("marker") ?? 0);
      const end = Math.min(rowsMax, start + Number(searchParams.get("maxresults")));
      const blobs = Array.from({ length: end - start }, (_, index) => {
        const name = `blob-${String(start + index).padStart(6, "0")}`;
        return `<Blob><Name>${name}</Name><Properties/></Blob>`;
      });
      const next = end < rowsMax ? `<NextMarker>${end}</NextMarker>` : "";
      const body = `<EnumerationResults><Blobs>${blobs.join("")}</Blobs>${next}</EnumerationResults>`;
      return route.fulfill({ contentType: "application/xml", body });
    });
    await page.evaluate(`location.hash = "${wiki}"`);
    await row(page, "blob-000000").waitFor();
    await page.keyboard.press("Tab");
    await page.getByRole("grid").focus();
    await page.keyboard.press("End");
    await row(page, "blob-009999").waitFor();
    await page.getByText("10,000 entries").waitFor();
  });

  it("Escape closes the dialog with the keys of an account", async () => {
    const page = await here.open(wiki);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("button", { name: "Show key" }).click();
    await page.getByLabel("Connection string", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("Escape leaves a form with one name without a question", async () => {
    const page = await here.open("#/blobs");
    await row(page, "wiki").waitFor();
    await page.getByRole("button", { name: "New container" }).click();
    // Keys that are pressed before it is open belong to the page.
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("abc");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
});

describe("the address has everything that is seen", () => {
  it("filter, order, view and tab of blobs stay after a reload", async () => {
    const page = await here.open(`${wiki}?blob=${longName(3)}`);
    await page.getByRole("tab", { name: "Metadata" }).click();
    await page.getByLabel("Search by").selectOption("contains");
    await page.locator("[data-filter]").fill("-03");
    await page.getByText("1 entry").waitFor();
    await page.getByLabel("Sort by").selectOption("-Size");
    await page.getByRole("button", { name: "Flat" }).click();
    await page.reload();
    await page.getByText("1 entry").waitFor();
    expect(await page.locator("[data-filter]").inputValue()).toBe("-03");
    expect(await page.getByLabel("Sort by").inputValue()).toBe("-Size");
    const pressed = page.getByRole("button", { name: "Flat" });
    expect(await pressed.getAttribute("aria-pressed")).toBe("true");
    const tab = page.getByRole("tab", { name: "Metadata" });
    expect(await tab.getAttribute("aria-selected")).toBe("true");
  });

  it("query and entity of a table stay after a reload", async () => {
    const page = await here.open(`#/tables/${account}/books`);
    await row(page, "first").waitFor();
    await page.getByLabel("$filter").fill("pages gt 15");
    await page.getByRole("button", { name: "Run query" }).click();
    await page.getByText("1 entry").waitFor();
    await row(page, "second").click();
    await page.getByRole("complementary", { name: "a&b / second" }).waitFor();
    await page.reload();
    await page.getByText("1 entry").waitFor();
    expect(await page.getByLabel("$filter").inputValue()).toBe("pages gt 15");
    await page.getByRole("complementary", { name: "a&b / second" }).waitFor();
    // An entity that the list does not show has an address, too.
    const link = await here.open(`#/tables/${account}/books?entity=a%2526b%2Ffirst`);
    await link.getByRole("complementary", { name: "a&b / first" }).waitFor();
  });
});

describe("a deletion", () => {
  it("says what goes and what stays, and asks for the name above 1,000 blobs", async () => {
    const page = await here.open(wiki);
    await page.getByText("31 entries").waitFor();
    await page.getByRole("button", { name: "Select all" }).click();
    const selection = page.getByRole("toolbar", { name: "Selection" });
    await selection.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/^31 blobs, /).waitFor();
    await dialog.getByText("Their snapshots are deleted, too.").waitFor();
    await dialog.getByText("Their versions stay").waitFor();
    await dialog.getByText("The container wiki stays.").waitFor();
    expect(await dialog.getByLabel("Type wiki to confirm").count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.route(/\/storage\/blob\/.*comp=list/, (route) => {
      const one = (_: unknown, index: number): string =>
        `<Blob><Name>blob-${index}</Name><Properties/></Blob>`;
      const blobs = Array.from({ length: 1001 }, one).join("");
      const body = `<EnumerationResults><Blobs>${blobs}</Blobs></EnumerationResults>`;
      return route.fulfill({ contentType: "application/xml", body });
    });
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("1,001 entries").waitFor();
    await selection.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText(/^1,001 blobs, /).waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await dialog.getByLabel("Type wiki to confirm").fill("wik");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("Type wiki to confirm.", { exact: true }).waitFor();
  });

  it("of a blob with versions is undone by making a version current", async () => {
    await putText(here, { container: "wiki", name: "gone.md", text: "kept" });
    await here.blobs.getContainerClient("wiki").deleteBlob("gone.md");
    const page = await here.open(`${wiki}?blob=gone.md`);
    await page.getByText("Loading blob failed").waitFor();
    await page.getByRole("button", { name: /^Actions of version/ }).click();
    await page.getByRole("menuitem", { name: "Make current" }).click();
    await page.getByText("This state is the current one").waitFor();
    const blob = here.blobs.getContainerClient("wiki").getBlobClient("gone.md");
    expect((await blob.downloadToBuffer()).toString()).toBe("kept");
    await here.blobs.getContainerClient("wiki").deleteBlob("gone.md");
    const list = await here.open(`${wiki}?history=1`);
    await row(list, "gone.md").first().waitFor();
    await list.getByRole("button", { name: "Actions of gone.md" }).first().click();
    await list.getByRole("menuitem", { name: "Make current" }).click();
    await expect.poll(() => blob.exists()).toBe(true);
  });
});

describe("a phone", () => {
  it("has one row of navigation", async () => {
    const size = { width: 390, height: 780 };
    const page = await here.open(wiki, { viewport: size, hasTouch: true });
    await row(page, longName(0)).waitFor();
    const box = await page.locator(".side").boundingBox();
    expect(box?.height).toBeLessThan(80);
    await page.getByRole("button", { name: "More", exact: true }).tap();
    await page.getByRole("navigation").getByText("Concurrency").tap();
    await page.getByText("No leases").waitFor();
    expect((await page.locator(".side").boundingBox())?.height).toBeLessThan(80);
  });
});

/** How far the first field of a form is from the left edge of its area. */
const indent = `(() => {
  const field = document.querySelector("main .row.section input");
  const area = field.closest(".detail-body, .scroll");
  return field.getBoundingClientRect().left - area.getBoundingClientRect().left;
})()`;

describe("forms begin at the left edge", () => {
  it.each([
    [`#/tables/${account}/books?entity=new`, "PartitionKey"],
    [`#/settings/${account}/access/blob`, "Stored access policies belong"],
  ])("%s", async (hash, ready) => {
    const page = await here.open(hash);
    await page.locator("main").getByText(ready).first().waitFor();
    expect(await page.evaluate(indent)).toBeLessThan(60);
  });
});
