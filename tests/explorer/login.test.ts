import { describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { account, explorer, putText, row, takePicture } from "./explorer.ts";

const token = "a token of some length";
const secondKey = Buffer.alloc(64, 2).toString("base64");
const here = explorer({
  adminToken: token,
  accounts: { [account]: {}, second: { keys: [secondKey] } },
});

describe("with a required login", () => {
  it("the page shows nothing before the login", async () => {
    await putText(here, { container: "behind", name: "a.txt", text: "a" });
    const page = await here.open(`#/blobs/${account}`);
    await page.getByRole("dialog", { name: "Log in" }).waitFor();
    await takePicture(page, "login");
    await page.getByRole("tab", { name: "Admin token" }).click();
    await page.getByLabel("Token").fill("another token");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();
    expect(await row(page, "behind").count()).toBe(0);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
    await row(page, "behind").waitFor();
  });

  it("an account key is accepted and displayed only on request", async () => {
    const page = await here.open("#/blobs");
    await page.getByLabel("Account", { exact: true }).fill(account);
    await page.getByLabel("Key", { exact: true }).fill(developmentAccountKey);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByLabel("blob endpoint", { exact: true }).waitFor();
    const values = async (): Promise<string> => {
      const inputs = await page.locator("dialog input").all();
      return (await Promise.all(inputs.map((input) => input.inputValue()))).join("\n");
    };
    expect(await values()).not.toContain(developmentAccountKey);
    await page.getByRole("button", { name: "Show key" }).click();
    await page.getByLabel("Connection string", { exact: true }).waitFor();
    expect(await values()).toContain(developmentAccountKey);
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("dialog", { name: "Log in" }).waitFor();
  });

  it("a login link works once and leaves nothing in the address bar or the history", async () => {
    const link = here.server.explorerLink();
    const page = await here.open(new URL(link).hash);
    await row(page, "behind").waitFor();
    expect(page.url()).not.toContain("login");
    await page.getByRole("link", { name: "Health" }).click();
    await page.goBack();
    await row(page, "behind").waitFor();
    expect(page.url()).not.toContain("login");
    const again = await here.open(new URL(link).hash);
    await again.getByRole("dialog", { name: "Log in" }).waitFor();
    expect(await row(again, "behind").count()).toBe(0);
    expect(again.url()).not.toContain("login");
    // A link pasted into an open page does not reload the page.
    await again.goto(here.server.explorerLink());
    await row(again, "behind").waitFor();
  });

  it("a login with an account key shows that account only, and no server metrics", async () => {
    const page = await here.open("#/blobs");
    await page.getByLabel("Account", { exact: true }).fill("second");
    await page.getByLabel("Key", { exact: true }).fill(secondKey);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("button", { name: "Connect" }).waitFor();
    const names = page.locator("select", { hasText: "second" }).locator("option");
    expect(await names.allTextContents()).toEqual(["second"]);
    expect(await page.getByRole("link", { name: "Health" }).count()).toBe(0);
    await page.goto(`${here.server.adminUrl}/#/health`);
    await page.getByText("Health needs the admin token").waitFor();
    await page.goto(`${here.server.adminUrl}/#/concurrency`);
    await page.getByText("live", { exact: true }).waitFor();
  });
});
