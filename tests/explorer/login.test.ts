import { describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { account, explorer, putText, row, takePicture } from "./explorer.ts";

const token = "a token of some length";
const here = explorer({ adminToken: token });

describe("where a login is asked for", () => {
  it("the page shows nothing before, and everything after", async () => {
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

  it("an account's key opens it as well, and is shown only when asked for", async () => {
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
    await page.getByRole("button", { name: "Show the key" }).click();
    await page.getByLabel("Connection string", { exact: true }).waitFor();
    expect(await values()).toContain(developmentAccountKey);
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("dialog", { name: "Log in" }).waitFor();
  });
});
