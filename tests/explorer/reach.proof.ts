import { TableClient } from "@azure/data-tables";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { axeFindings } from "./axe.ts";
import { account, explorer, putText, row } from "./explorer.ts";
import { changeAddressAtOnce } from "./in-page.ts";

const here = explorer();
const wireBytesMax = 100_000;

/** Bytes on the wire of the files of the page, by address. */
const transferred = `Object.fromEntries(
  [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .filter(({ name }) => !/\\/(admin|storage)\\//.test(name))
    .map(({ name, transferSize }) => [name, transferSize]),
)`;

beforeAll(async () => {
  for (let index = 0; index < 30; index += 1) {
    const name = `notes/note-${String(index).padStart(2, "0")}.txt`;
    await putText(here, { container: "wiki", name, text: `note ${index}` });
  }
  await putText(here, { container: "wiki", name: "home.md", text: "# Home\n" });
  const { connectionString } = here.server;
  const insecure = { allowInsecureConnection: true };
  const table = TableClient.fromConnectionString(connectionString, "books", insecure);
  await table.createTable();
  await table.createEntity({ partitionKey: "p", rowKey: "first", pages: 10, title: "One" });
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient("work");
  await queue.create();
  await queue.sendMessage("a visible message");
  const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient("papers");
  await share.create();
  await share.createFile("plan.txt", 10);
});

type Place = readonly [hash: string, ready: string];

const places: readonly Place[] = [
  ["#/blobs", "wiki"],
  [`#/blobs/${account}?find=tags`, "Enter an expression"],
  [`#/blobs/${account}/wiki`, "home.md"],
  [`#/blobs/${account}/wiki?blob=home.md`, "BlockBlob"],
  [`#/tables/${account}`, "books"],
  [`#/tables/${account}/books`, "first"],
  [`#/queues/${account}`, "work"],
  [`#/queues/${account}/work`, "a visible message"],
  [`#/shares/${account}`, "papers"],
  [`#/shares/${account}/papers`, "plan.txt"],
  [`#/shares/${account}/papers?file=plan.txt`, "Written ranges"],
  ["#/concurrency/leases", "No leases"],
  ["#/concurrency/refused", "409"],
  ["#/timeline", "recorded since"],
  [`#/events/${account}`, "No subscriptions"],
  [`#/settings/${account}`, "Keep deleted blobs"],
  [`#/settings/${account}/access/blob/wiki`, "No policies"],
  ["#/principals", "Storage Blob Data Owner"],
  ["#/overview", "Slow operations"],
  ["#/health", "Busiest operations"],
];

/** Dark colours differ from light ones in nothing else. */
const colourRules = ["color-contrast", "link-in-text-block"];

async function findingsIn(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const place of places) {
    await show(page, place);
    findings.push(...(await axeFindings(page, rules)).map((finding) => `${place[0]}: ${finding}`));
  }
  return findings;
}

async function show(page: Page, [hash, ready]: Place): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.getByText(ready).first().waitFor();
}

describe("the accessibility scan has no findings", () => {
  it("in any view", async () => {
    const page = await here.open("");
    expect(await findingsIn(page)).toEqual([]);
  });

  it("in dark mode", async () => {
    const page = await here.open("", { colorScheme: "dark" });
    expect(await findingsIn(page, colourRules)).toEqual([]);
  });

  it("on a phone", async () => {
    const page = await here.open("", { viewport: { width: 390, height: 780 }, hasTouch: true });
    expect(await findingsIn(page)).toEqual([]);
  });

  it("in tabs, dialogs and details", async () => {
    const page = await here.open(`#/blobs/${account}/wiki?blob=home.md`);
    for (const tab of ["Content", "Metadata", "History", "Access"]) {
      await page.getByRole("tab", { name: tab }).click();
      expect(await axeFindings(page)).toEqual([]);
    }
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("dialog").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await show(page, [`#/queues/${account}/work`, "a visible message"]);
    await page.getByRole("button", { name: "Details" }).click();
    await page.getByText("Dequeue count").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await show(page, [`#/tables/${account}/books`, "first"]);
    await row(page, "first").click();
    await page.getByLabel("Select p / first").click();
    await page.getByRole("button", { name: "Change" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});

describe("with the keyboard only", () => {
  it("a blob can be found, edited and saved", async () => {
    const page = await here.open("#/health");
    await page.getByText("Busiest operations").waitFor();
    const keys = async (...names: readonly string[]): Promise<void> => {
      for (const name of names) await page.keyboard.press(name);
    };
    await keys("g", "b");
    await row(page, "wiki").waitFor();
    await tabTo(page, "grid");
    await keys("Enter");
    await row(page, "notes/").waitFor();
    // The list that replaces the previous one has the focus.
    await keys("ArrowDown", "Enter");
    await row(page, "note-00.txt").waitFor();
    await keys("End", "Enter");
    await page.getByRole("complementary").getByText("BlockBlob").waitFor();
    await tabTo(page, "tab");
    await keys("ArrowRight");
    await page.getByRole("button", { name: "Edit" }).waitFor();
    await tabTo(page, "button", "Edit");
    await keys("Enter");
    await tabTo(page, "textbox", "Text of notes/note-29.txt");
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type(" by keyboard");
    await page.keyboard.press("Shift+Tab");
    await keys("Enter");
    await page.getByText("note-29.txt saved").waitFor();
    const client = here.blobs.getContainerClient("wiki").getBlobClient("notes/note-29.txt");
    expect((await client.downloadToBuffer()).toString()).toBe("note 29 by keyboard");
    await keys("Escape");
    await page.getByRole("complementary").waitFor({ state: "detached" });
    await keys("u");
    await row(page, "home.md").waitFor();
    await keys("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await keys("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
});

/** Names of controls outside the window, to which no scrolling leads. */
const unreachable = `[...document.querySelectorAll("button, a, select, input")].flatMap((one) => {
  const { left, right, width } = one.getBoundingClientRect();
  const isOutside = width > 0 && (left < -1 || right > innerWidth + 1);
  const scrolls = (parent) => /auto|scroll/.test(getComputedStyle(parent).overflowX);
  let parent = one.parentElement;
  while (parent !== null && !scrolls(parent)) parent = parent.parentElement;
  return isOutside && parent === null && !one.matches(".skip")
    ? [one.getAttribute("aria-label") ?? one.textContent]
    : [];
})`;

const tabsMax = 40;

/** Presses Tab until an element of this role and name has the focus. */
async function tabTo(page: Page, role: string, name?: string): Promise<void> {
  const focused = `(() => {
    const one = document.activeElement;
    const tag = { BUTTON: "button", TEXTAREA: "textbox", A: "link" }[one.tagName];
    const name = one.getAttribute("aria-label") ?? one.textContent.trim();
    return [one.getAttribute("role") ?? tag, name];
  })()`;
  for (let presses = 0; presses < tabsMax; presses += 1) {
    await page.keyboard.press("Tab");
    const [foundRole, foundName] = await page.evaluate<[string, string]>(focused);
    if (foundRole === role && (name === undefined || foundName === name)) return;
  }
  throw new Error(`Tab does not lead to ${role} ${name ?? ""}`);
}

describe("the page", () => {
  it("uses dark mode if the system or the user chooses it", async () => {
    const background = `getComputedStyle(document.body).backgroundColor`;
    const dark = await here.open(`#/blobs/${account}/wiki?blob=home.md`, { colorScheme: "dark" });
    await dark.getByText("BlockBlob").waitFor();
    expect(await dark.evaluate(background)).toBe("rgb(20, 23, 26)");
    const light = await here.open("#/blobs", { colorScheme: "light" });
    await row(light, "wiki").waitFor();
    expect(await light.evaluate(background)).toBe("rgb(246, 244, 239)");
    await light.getByRole("button", { name: "Theme: auto" }).click();
    await light.getByRole("button", { name: "Theme: light" }).click();
    expect(await light.evaluate(background)).toBe("rgb(20, 23, 26)");
    await light.reload();
    await row(light, "wiki").waitFor();
    expect(await light.evaluate(background)).toBe("rgb(20, 23, 26)");
  });

  it("follows an address that changes while it starts", async () => {
    const page = await here.open("#/blobs");
    await row(page, "wiki").waitFor();
    await page.addInitScript(changeAddressAtOnce);
    await page.reload();
    await row(page, "books").waitFor();
  });

  it("fits a phone screen", async () => {
    const size = { width: 390, height: 780 };
    const page = await here.open(`#/blobs/${account}/wiki`, { viewport: size, hasTouch: true });
    await row(page, "home.md").waitFor();
    const overflow = `document.documentElement.scrollWidth - innerWidth`;
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    await row(page, "home.md").tap();
    await page.getByText("BlockBlob").waitFor();
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Close details" }).tap();
    // What a wide screen offers beside the list and the menu is there, too.
    await page.getByLabel("Select home.md").tap();
    const selection = page.getByRole("toolbar", { name: "Selection" });
    await selection.getByRole("button", { name: "Delete" }).waitFor();
    await page.getByRole("button", { name: "Actions of home.md" }).tap();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "More", exact: true }).tap();
    await page.getByRole("button", { name: "Theme: auto" }).waitFor();
    await page.getByRole("button", { name: "Connect" }).tap();
    await page.getByLabel("blob endpoint", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).tap();
    await page.getByRole("navigation").getByText("Concurrency").tap();
    await page.getByText("No leases").waitFor();
    for (const place of places) {
      await show(page, place);
      expect([place[0], await page.evaluate(unreachable)]).toEqual([place[0], []]);
    }
  });

  it("is small: at most 100 kB on the wire for the first view, the rest on demand", async () => {
    const page = await here.open("#/blobs");
    await row(page, "wiki").waitFor();
    const sent = await page.evaluate<Readonly<Record<string, number>>>(transferred);
    const total = Object.values(sent).reduce((sum, bytes) => sum + bytes, 0);
    process.stdout.write(`first load: ${total} bytes\n`);
    expect(total).toBeGreaterThan(20_000);
    expect(total).toBeLessThan(wireBytesMax);
    await show(page, ["#/health", "Busiest operations"]);
    const later = await page.evaluate<Readonly<Record<string, number>>>(transferred);
    expect(Object.keys(later).length).toBeGreaterThan(Object.keys(sent).length);
  });
});
