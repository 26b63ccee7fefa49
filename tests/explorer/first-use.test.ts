import { TableClient } from "@azure/data-tables";
import { ShareServiceClient } from "@azure/storage-file-share";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { account, choose, explorer, putText, row } from "./explorer.ts";

/** Without a token, as on the computer of a developer. */
const here = explorer();
const insecure = { allowInsecureConnection: true };
const oneLinePixelsMax = 64;

const heightOfBar = (page: Page): Promise<number> =>
  page.evaluate<number>(`document.querySelector(".bar").offsetHeight`);

/** Waits for the field that the page has given the focus, as a user sees it. */
const focusedField = (page: Page): Promise<void> => page.locator("input:focus").waitFor();

describe("what is typed goes where the user looks", () => {
  it("into a row that was added to metadata", async () => {
    await putText(here, { container: "wiki", name: "home.md", text: "# Home" });
    const page = await here.open(`#/blobs/${account}/wiki?blob=home.md&tab=metadata`);
    const metadata = page.getByRole("group", { name: "Metadata" });
    await metadata.getByRole("button", { name: "Add" }).click();
    await focusedField(page);
    await page.keyboard.type("owner");
    await page.keyboard.press("Tab");
    await page.keyboard.type("anna");
    await page.keyboard.press("Control+s");
    await page.getByText("Metadata saved").waitFor();
    const blob = here.blobs.getContainerClient("wiki").getBlobClient("home.md");
    expect((await blob.getProperties()).metadata).toEqual({ owner: "anna" });
  });

  it("into the keys of a new entity, and into a property that was added", async () => {
    const { connectionString } = here.server;
    const table = TableClient.fromConnectionString(connectionString, "people", insecure);
    await table.createTable();
    const page = await here.open(`#/tables/${account}/people`);
    await page.getByRole("button", { name: "New entity" }).click();
    await focusedField(page);
    await page.keyboard.type("ulm");
    await page.keyboard.press("Tab");
    await page.keyboard.type("anna");
    await page.getByRole("button", { name: "Add property" }).click();
    await focusedField(page);
    await page.keyboard.type("note");
    await page.getByRole("button", { name: "Insert entity" }).click();
    await page.getByText("Entity inserted").waitFor();
    expect(await table.getEntity("ulm", "anna")).toMatchObject({ note: "" });
  });
});

describe("a conflict", () => {
  it("that is discarded leaves the other values, also if they are those of before", async () => {
    const client = here.blobs.getContainerClient("wiki").getBlobClient("plan.md");
    await putText(here, { container: "wiki", name: "plan.md", text: "plan" });
    await client.setMetadata({ owner: "ben" });
    const page = await here.open(`#/blobs/${account}/wiki?blob=plan.md&tab=metadata`);
    await page.getByLabel("Metadata value 1").fill("anna");
    await client.setMetadata({ owner: "ben" });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Discard mine" }).click();
    await expect.poll(() => page.getByLabel("Metadata value 1").inputValue()).toBe("ben");
    expect(await page.getByRole("button", { name: "Save", exact: true }).count()).toBe(0);
  });
});

describe("lists", () => {
  it("have their commands in one line, and say what a filter compares", async () => {
    await putText(here, { container: "wiki", name: "home.md", text: "# Home" });
    const page = await here.open(`#/blobs/${account}/wiki`);
    await row(page, "home.md").waitFor();
    expect(await heightOfBar(page)).toBeLessThan(oneLinePixelsMax);
    await page.keyboard.press("/");
    // Slower than the pause after which the list is filtered.
    await page.keyboard.type("HOME", { delay: 250 });
    await page.getByText("No names begin with “HOME”. Upper and lower case count").waitFor();
    await page.getByLabel("Search by").selectOption("contains");
    await row(page, "home.md").waitFor();
  });

  it("name the rows of snapshots, and the sum of sizes without folders", async () => {
    await putText(here, { container: "sums", name: "a.txt", text: "four" });
    await putText(here, { container: "sums", name: "below/b.txt", text: "more" });
    await here.blobs.getContainerClient("sums").getBlobClient("a.txt").createSnapshot();
    const page = await here.open(`#/blobs/${account}/sums`);
    await page.getByLabel("Select below/").click();
    await page.getByLabel("Select a.txt").click();
    await page.getByText("2 selected, 4 B without folders").waitFor();
    await page.getByRole("button", { name: "History", exact: true }).click();
    await page.getByRole("button", { name: "Flat", exact: true }).click();
    await page.getByRole("button", { name: /^Actions of a\.txt, snapshot / }).waitFor();
    await choose(page, "a.txt", "Delete");
    await page.getByText("Its snapshots are deleted, too.").waitFor();
    await page.keyboard.press("Escape");
    const share = ShareServiceClient.fromConnectionString(
      here.server.connectionString,
    ).getShareClient("papers");
    await share.create();
    await share.createSnapshot();
    await page.evaluate(`location.hash = "#/shares/${account}"`);
    await page.getByRole("button", { name: /^Actions of the snapshot .* of papers/ }).waitFor();
    expect(await page.getByRole("button", { name: "Actions of papers" }).count()).toBe(1);
  });

  it("the shortcuts name those of the clipboard", async () => {
    const page = await here.open(`#/blobs/${account}`);
    await page.getByRole("link", { name: "Blobs" }).waitFor();
    await page.keyboard.press("?");
    await page.getByText("Copy, cut, paste blobs").waitFor();
  });
});

describe("a stored access policy", () => {
  it("is chosen for a SAS, which then repeats nothing of it", async () => {
    await putText(here, { container: "shared", name: "a.txt", text: "shared text" });
    const accessPolicy = { permissions: "r", expiresOn: new Date("2099-01-01") };
    const container = here.blobs.getContainerClient("shared");
    await container.setAccessPolicy(undefined, [
      { id: "readers", accessPolicy: { ...accessPolicy, startsOn: new Date("2020-01-01") } },
    ]);
    const page = await here.open(`#/blobs/${account}/shared?blob=a.txt&tab=access`);
    await page.getByLabel("Stored access policy").selectOption("readers");
    expect(await page.getByRole("group", { name: "Permissions" }).count()).toBe(0);
    await page.getByRole("button", { name: "Create SAS URL" }).click();
    await page.getByText("Valid as long as the access policy readers permits it").waitFor();
    const link = await page.getByLabel("Link", { exact: true }).inputValue();
    expect([...new URL(link).searchParams.keys()]).not.toContain("se");
    expect(await (await fetch(link)).text()).toBe("shared text");
  });
});

describe("a phone", () => {
  const phone = { viewport: { width: 390, height: 780 } };

  it("shows what is leased, and fields as wide as their values", async () => {
    await putText(here, { container: "held", name: "leased.txt", text: "x" });
    const container = here.blobs.getContainerClient("held");
    await container.getBlobClient("leased.txt").getBlobLeaseClient().acquireLease(-1);
    const page = await here.open("#/concurrency/leases", phone);
    await row(page, "held/leased.txt").waitFor();
    const link = `document.querySelector(".grid-row a").parentElement.clientWidth`;
    expect(await page.evaluate(link)).toBeGreaterThan(120);
    await page.evaluate(`location.hash = "#/settings/${account}/access/blob/held"`);
    await page.getByRole("button", { name: "Add policy" }).click();
    const fields = `[...document.querySelectorAll(".policy input")].map((e) => e.clientWidth)`;
    expect(Math.min(...(await page.evaluate<readonly number[]>(fields)))).toBeGreaterThan(110);
  });
});

// Last, because the server requires a login from then on.
describe("the first account with a secret key", () => {
  it("is shown with its key, and the page stays logged in", async () => {
    const page = await here.open(`#/settings/${account}/account`);
    await page.getByRole("button", { name: "New account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("[name=name]").fill("secondaccount");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByLabel("Key 1", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Open account" }).click();
    await page.getByText("No containers.").waitFor();
    await page.reload();
    await page.getByText("No containers.").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    const other = await here.open("#/blobs");
    await other.getByRole("dialog", { name: "Log in" }).waitFor();
    await other.getByText("The command etagere login prints a link").waitFor();
  });
});
