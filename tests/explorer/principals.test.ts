import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { axeFindings } from "./axe.ts";
import { account, explorer, putText, row, takePicture } from "./explorer.ts";

const secret = "a-secret-of-the-reader";
const objectId = "aaaaaaaa-0000-4000-8000-000000000001";
const here = explorer({
  adminToken: "a token of some length",
  accounts: { [account]: {} },
  identity: {
    principals: {
      reader: { objectId, secret },
      signer: { objectId: "aaaaaaaa-0000-4000-8000-000000000002", secret },
    },
    roleAssignments: [
      { principal: "signer", role: "Storage Blob Data Reader", account },
      { principal: "reader", role: "Storage Blob Data Reader", account, container: "reports" },
    ],
  },
});

describe("a principal", () => {
  it("logs in with its secret and sees only what its roles permit", async () => {
    await putText(here, { container: "reports", name: "a.txt", text: "figures" });
    await putText(here, { container: "private", name: "b.txt", text: "secret" });
    const page = await here.open("#/blobs");
    await page.getByRole("tab", { name: "Principal" }).click();
    await page.getByLabel("Principal").fill("reader");
    await page.getByLabel("Secret").fill(secret);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("as reader").waitFor();
    expect(await page.getByRole("navigation").getByRole("link").allTextContents()).toEqual([
      "Blobs",
      "Overview",
      "Concurrency",
      "Timeline",
      "Principals",
    ]);
    expect(await page.getByText("private").count()).toBe(0);
    await page.getByRole("link", { name: "reports" }).click();
    await row(page, "a.txt").waitFor();
    // A reader sees no commands that change something.
    for (const command of ["New blob", "Upload"]) {
      expect(await page.getByRole("button", { name: command, exact: true }).count()).toBe(0);
    }
    await row(page, "a.txt").click();
    await page.getByRole("button", { name: "Download" }).waitFor();
    expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await page.getByRole("tab", { name: "Access" }).click();
    await page.getByText("permits a user delegation key").waitFor();
    expect(await page.getByRole("button", { name: "Create SAS URL" }).count()).toBe(0);
    await page.getByRole("tab", { name: "Content" }).click();
    await page.locator(".preview-text", { hasText: "figures" }).waitFor();
    // The services decide: another container is refused, whatever the page shows.
    await page.goto(`${here.server.adminUrl}/#/blobs/${account}/private`);
    await page.getByText("AuthorizationPermissionMismatch").waitFor();
    expect(await page.getByText("b.txt").count()).toBe(0);
    await page.getByRole("link", { name: "Principals" }).click();
    await page.getByRole("cell", { name: "reader", exact: true }).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("dialog", { name: "Log in" }).waitFor();
  });
});

describe("a principal that may get a user delegation key", () => {
  it("creates a SAS, and downloads the blob snapshot that it has chosen", async () => {
    await putText(here, { container: "reports", name: "a.txt", text: "old figures" });
    const blob = here.blobs.getContainerClient("reports").getBlockBlobClient("a.txt");
    const { snapshot = "" } = await blob.createSnapshot();
    await blob.upload("new", 3);
    const page = await here.open("#/blobs");
    const headers = { "x-etagere-admin": "1", "content-type": "application/json" };
    const login = { headers, data: { principal: "signer", secret } };
    await page.context().request.post(`${here.server.adminUrl}/admin/v1/session`, login);
    const place = `${here.server.adminUrl}/#/blobs/${account}/reports?blob=a.txt`;
    await page.goto(place);
    await page.reload();
    await page.getByRole("tab", { name: "Access" }).click();
    await page.getByRole("button", { name: "Create SAS URL" }).click();
    const link = await page.getByLabel("Link", { exact: true }).inputValue();
    expect(link).toContain("skoid=");
    expect(await (await fetch(link)).text()).toBe("new");
    await page.goto(`${place}&snapshot=${encodeURIComponent(snapshot)}`);
    await page.getByText("snapshot", { exact: true }).first().waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const downloaded = await downloading;
    expect(readFileSync(await downloaded.path(), "utf8")).toBe("old figures");
  });
});

describe("an administrator", () => {
  it("sees principals and roles, and which role a rejected request lacks", async () => {
    await putText(here, { container: "reports", name: "a.txt", text: "figures" });
    const page = await here.open(new URL(here.server.explorerLink()).hash);
    await row(page, "reports").waitFor();
    await page.goto(`${here.server.adminUrl}/#/principals`);
    await page.getByRole("cell", { name: "Storage Blob Data Reader" }).first().waitFor();
    await page.getByText("Storage Queue Data Message Sender").click();
    await page.getByText("messages/add/action").first().waitFor();
    await takePicture(page, "principals");
    await page.goto(`${here.server.adminUrl}/#/concurrency/refused`);
    await page.getByText("live", { exact: true }).waitFor();
    const other = await here.open("#/blobs");
    const headers = { "x-etagere-admin": "1", "content-type": "application/json" };
    const login = { headers, data: { principal: "reader", secret } };
    await other.context().request.post(`${here.server.adminUrl}/admin/v1/session`, login);
    const path = `${here.server.adminUrl}/storage/blob/${account}/reports/a.txt`;
    const refused = await other.context().request.delete(path, { headers });
    expect(refused.status()).toBe(403);
    const line = row(page, "blobs/delete");
    await line.getByText("Storage Blob Data Contributor").waitFor();
    await line.click();
    await page.getByRole("complementary").getByText("reader, bearer").waitFor();
    await takePicture(page, "missing-role");
    await page.goto(`${here.server.adminUrl}/#/principals`);
    await page.getByRole("button", { name: "Log in as reader" }).click();
    await page.getByText("as reader", { exact: true }).waitFor();
  });

  it("creates a principal, assigns and deletes roles, and changes and deletes it", async () => {
    await putText(here, { container: "reports", name: "a.txt", text: "figures" });
    const page = await here.open(new URL(here.server.explorerLink()).hash);
    await row(page, "reports").waitFor();
    await page.goto(`${here.server.adminUrl}/#/principals`);
    await page.getByRole("button", { name: "New principal" }).click();
    const form = page.getByRole("dialog", { name: "New principal" });
    await form.getByLabel("Name").fill("reader");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText('"reader" names another principal').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await form.getByLabel("Name").fill("Night shift");
    await form.getByRole("button", { name: "Create" }).click();
    const made = page.getByRole("dialog", { name: "Secret of Night shift" });
    const created = await made.getByLabel("Secret", { exact: true }).inputValue();
    expect(created).toHaveLength(43);
    await made.getByRole("button", { name: "Close" }).last().click();
    const line = page.getByRole("row", { name: /^Night shift stored/ });
    await line.getByRole("button", { name: "Assign role" }).click();
    const assigning = page.getByRole("dialog", { name: "New role assignment" });
    await assigning.getByLabel(/^Role/).selectOption("Storage Blob Data Reader");
    await assigning.getByLabel(/^Account/).selectOption(account);
    await assigning.getByLabel("Applies to").selectOption("One container");
    await assigning.getByLabel("Name", { exact: true }).fill("reports");
    expect(await axeFindings(page)).toEqual([]);
    await assigning.getByRole("button", { name: "Assign", exact: true }).click();
    const assigned = page.getByRole("row", { name: /^Night shift Storage Blob Data Reader/ });
    await assigned.getByText("blob: reports").waitFor();
    // A configured one can only be used.
    const configured = page.getByRole("row", { name: /^reader configured/ });
    expect(await configured.getByRole("button", { name: /Change|Delete/ }).count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await takePicture(page, "principals-stored");

    const night = await here.open("#/blobs");
    const headers = { "x-etagere-admin": "1", "content-type": "application/json" };
    const login = { headers, data: { principal: "Night shift", secret: created } };
    const session = `${here.server.adminUrl}/admin/v1/session`;
    expect((await night.context().request.post(session, login)).status()).toBe(200);
    const path = `${here.server.adminUrl}/storage/blob/${account}/reports/a.txt`;
    const status = async () => (await night.context().request.get(path, { headers })).status();
    expect(await status()).toBe(200);
    await assigned.getByRole("button", { name: /^Delete/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await assigned.waitFor({ state: "detached" });
    expect(await status()).not.toBe(200);

    await line.getByRole("button", { name: "Change Night shift" }).click();
    const changing = page.getByRole("dialog", { name: "Change Night shift" });
    await changing.getByLabel("Groups").fill("team, shift");
    await changing.getByRole("button", { name: "Save" }).click();
    await line.getByText("team, shift").waitFor();
    expect((await night.context().request.post(session, login)).status()).toBe(200);
    await line.getByRole("button", { name: "Delete Night shift" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await line.waitFor({ state: "detached" });
    expect((await night.context().request.post(session, login)).status()).toBe(401);
  });
});
