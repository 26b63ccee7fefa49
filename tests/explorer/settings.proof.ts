import { QueueServiceClient } from "@azure/storage-queue";
import { ShareServiceClient } from "@azure/storage-file-share";
import { describe, expect, it } from "vitest";
import { WireClient } from "../smb-wire/wire-client.ts";
import { lockBody, openFile } from "../smb-wire/wire-messages.ts";
import { axeFindings } from "./axe.ts";
import { account, explorer, putText } from "./explorer.ts";

const here = explorer();

describe("settings", () => {
  it("change CORS rules, soft delete and the static website of a service", async () => {
    const page = await here.open(`#/settings/${account}`);
    await page.getByRole("checkbox", { name: "Keep deleted blobs" }).check();
    await page.getByLabel("Days").fill("3");
    await page.getByRole("checkbox", { name: "Serve the container $web" }).check();
    await page.getByLabel("Index document", { exact: true }).fill("start.html");
    await page.getByRole("button", { name: "Add rule" }).click();
    await page.getByLabel("Allowed origins").fill("https://example.com");
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByText("Service settings saved").waitFor();
    const { cors, deleteRetentionPolicy, staticWebsite } = await here.blobs.getProperties();
    expect(deleteRetentionPolicy).toMatchObject({ enabled: true, days: 3 });
    expect(staticWebsite).toMatchObject({ enabled: true, indexDocument: "start.html" });
    expect(cors).toMatchObject([
      { allowedOrigins: "https://example.com", allowedMethods: "GET,HEAD", maxAgeInSeconds: 3600 },
    ]);
    // A mistake names the reason and stays; other services have CORS rules only.
    await page.getByLabel("Allowed methods").fill("JUMP");
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("alert").waitFor();
    // The change is kept until it is saved or discarded.
    await page.getByLabel("Service").selectOption("queue");
    await page.getByRole("button", { name: "Keep editing" }).click();
    expect(await page.getByLabel("Allowed methods").inputValue()).toBe("JUMP");
    expect(await page.getByLabel("Service").inputValue()).toBe("blob");
    await page.getByLabel("Allowed methods").fill("GET");
    await page.keyboard.press("Control+s");
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.getByLabel("Service").selectOption("queue");
    await page.getByText("No rules. Pages of other sites get no access.").waitFor();
    expect(await page.getByText("Static website").count()).toBe(0);
  });

  it("change the access level and stored access policies, and notice other changes", async () => {
    await putText(here, { container: "shared", name: "a.txt", text: "a" });
    const page = await here.open(`#/settings/${account}/access/blob/shared`);
    await page.getByLabel("Access level").selectOption("blob");
    await page.getByRole("button", { name: "Add policy" }).click();
    await page.getByLabel("Id").fill("readers");
    await page.getByLabel("Permissions").fill("rl");
    await page.getByLabel("Expiry").fill("2099-01-01T00:00");
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Save policies" }).click();
    await page.getByText("Access policies saved").waitFor();
    const container = here.blobs.getContainerClient("shared");
    const { blobPublicAccess, signedIdentifiers } = await container.getAccessPolicy();
    expect(blobPublicAccess).toBe("blob");
    expect(signedIdentifiers).toMatchObject([
      { id: "readers", accessPolicy: { permissions: "rl" } },
    ]);
    const queues = QueueServiceClient.fromConnectionString(here.server.connectionString);
    await queues.createQueue("work");
    await page.goto(`${here.server.adminUrl}/#/settings/${account}/access/queue/work`);
    await page.getByText("No policies.").waitFor();
    expect(await page.getByLabel("Access level").count()).toBe(0);
  });

  it("create an account SAS with a chosen expiry, and show the settings of the account", async () => {
    await putText(here, { container: "shared", name: "a.txt", text: "a" });
    const page = await here.open(`#/settings/${account}/sas`);
    await page.getByLabel("For").selectOption("custom");
    await page.getByLabel("Expiry").fill("2000-01-01T00:00");
    await page.getByRole("button", { name: "Create account SAS" }).click();
    await page.getByText("Expiry must be later than the start").waitFor();
    // At most ten years ahead.
    const year = new Date().getFullYear() + 5;
    await page.getByLabel("Expiry").fill(`${year}-07-05T10:30`);
    await page.getByRole("checkbox", { name: "Queues" }).uncheck();
    await page.getByRole("button", { name: "Create account SAS" }).click();
    const url = page.getByLabel("blob service URL", { exact: true });
    await url.waitFor();
    const made = new URL(await url.inputValue());
    expect(made.searchParams.get("se")).toContain(`${year}-07-05T`);
    expect(made.searchParams.get("ss")).toBe("btf");
    made.pathname += "/shared";
    expect((await fetch(`${made.href}&restype=container&comp=list`)).status).toBe(200);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("tab", { name: "Account", exact: true }).click();
    await page.getByText("These settings are in the configuration of the server.").waitFor();
  });
});

describe("the overview", () => {
  it("shows stored data, slow operations and waiting clients; the wait graph shows a deadlock", async () => {
    await putText(here, { container: "shared", name: "a.txt", text: "a" });
    const shares = ShareServiceClient.fromConnectionString(here.server.connectionString);
    await shares.createShare("docs");
    const [one, two] = [await connect(), await connect()];
    const [a1, b1] = [await openFile(one, "a.txt"), await openFile(one, "b.txt")];
    const [a2, b2] = [await openFile(two, "a.txt"), await openFile(two, "b.txt")];
    const exclusive = (at: number, flags: number) => ({ at, length: 10, flags });
    await one.ask(10, lockBody(a1, exclusive(0, 0x12)));
    await two.ask(10, lockBody(b2, exclusive(0, 0x12)));
    void one.ask(10, lockBody(b1, exclusive(5, 0x02)));
    await one.interim(1);
    void two.ask(10, lockBody(a2, exclusive(5, 0x02)));
    await two.interim(1);
    const page = await here.open("#/overview");
    const figure = (name: string) => page.locator(".figure", { hasText: name }).locator("dd");
    await expect.poll(() => figure("Waiting clients").textContent()).toBe("2");
    expect(await figure("Deadlocks").textContent()).toBe("1");
    await expect.poll(() => figure("Containers").textContent()).toMatch(/^[1-9]/);
    // Which operations are the slowest depends on the machine.
    const isHealth = (response: { url(): string }) => response.url().endsWith("/admin/v1/health");
    const [response] = await Promise.all([page.waitForResponse(isHealth), page.reload()]);
    const health = (await response.json()) as { slowOperations: { operation: string }[] };
    const names = health.slowOperations.map(({ operation }) => operation);
    expect(names).not.toEqual([]);
    const slow = page.locator("section", { hasText: "Slow operations" }).locator("tbody tr");
    const shown = () => slow.locator(":nth-child(2)").allTextContents();
    await expect.poll(shown).toEqual(names);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("link", { name: "Waiting clients" }).click();
    await page.getByText("Deadlock: 127.0.0.1").waitFor();
    expect(await page.getByText("exclusive lock of 10 bytes at 0").count()).toBe(2);
    expect(await page.locator(".wait-graph line.stuck").count()).toBe(2);
    expect(await axeFindings(page)).toEqual([]);
    one.end();
    two.end();
    await page.getByText("No client waits").waitFor();
  });
});

function connect(): Promise<WireClient> {
  return WireClient.ready(here.server.smbUrl, "docs");
}
