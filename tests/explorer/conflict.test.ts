import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { account, explorer, putText, takePicture } from "./explorer.ts";

const here = explorer();
const container = "wiki";
const base = "# Home\n\nWelcome to the wiki.\n\nSee also: nothing yet.\n";

async function edit(name: string): Promise<Page> {
  const page = await here.open(`#/blobs/${account}/${container}?blob=${name}`);
  await page.getByRole("tab", { name: "Content" }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  return page;
}

const textOf = (page: Page, name: string) => page.getByLabel(`Text of ${name}`);
const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();

async function stored(name: string): Promise<string> {
  const blob = here.blobs.getContainerClient(container).getBlobClient(name);
  return (await blob.downloadToBuffer()).toString();
}

describe("two users edit one blob", () => {
  it("keeps both changes if they do not overlap", async () => {
    const name = "home.md";
    await putText(here, { container, name, text: base });
    const [ada, grace] = [await edit(name), await edit(name)];
    await textOf(ada, name).fill(base.replace("# Home", "# Home of the wiki"));
    await textOf(grace, name).fill(base.replace("nothing yet", "the [index](index.md)"));
    await save(ada);
    await ada.getByText("home.md saved").waitFor();
    await save(grace);
    await grace.getByText("home.md was changed by another client").waitFor();
    await takePicture(grace, "conflict");
    expect(await stored(name)).not.toContain("index.md");
    await grace.getByRole("button", { name: "Save merge" }).click();
    await grace.getByText("home.md saved").waitFor();
    expect(await stored(name)).toBe(
      "# Home of the wiki\n\nWelcome to the wiki.\n\nSee also: the [index](index.md).\n",
    );
  });

  it("asks which change to keep if they overlap", async () => {
    const name = "clash.md";
    await putText(here, { container, name, text: base });
    const [ada, grace] = [await edit(name), await edit(name)];
    await textOf(ada, name).fill(base.replace("Welcome to the wiki.", "Welcome, reader."));
    await textOf(grace, name).fill(base.replace("Welcome to the wiki.", "Hello, writer."));
    await save(ada);
    await ada.getByText("clash.md saved").waitFor();
    await save(grace);
    const merge = grace.getByRole("button", { name: "Save merge" });
    expect(await merge.isDisabled()).toBe(true);
    await grace.getByRole("button", { name: "Take both" }).click();
    await takePicture(grace, "conflict-decided");
    await merge.click();
    await grace.getByText("clash.md saved").waitFor();
    expect(await stored(name)).toContain("Welcome, reader.\nHello, writer.\n");
  });

  it("overwrites only the version that was shown", async () => {
    const name = "third.md";
    await putText(here, { container, name, text: base });
    const grace = await edit(name);
    await textOf(grace, name).fill("mine\n");
    await putText(here, { container, name, text: "theirs\n" });
    await save(grace);
    await grace.getByText("third.md was changed by another client").waitFor();
    await putText(here, { container, name, text: "a third one\n" });
    await grace.getByRole("button", { name: "Overwrite with mine" }).click();
    await grace.locator(".versus", { hasText: "a third one" }).waitFor();
    expect(await stored(name)).toBe("a third one\n");
    await grace.getByRole("button", { name: "Overwrite with mine" }).click();
    await grace.getByText("third.md saved").waitFor();
    expect(await stored(name)).toBe("mine\n");
  });

  it("loads the other version if the own change is discarded", async () => {
    const name = "fourth.md";
    await putText(here, { container, name, text: base });
    const grace = await edit(name);
    await textOf(grace, name).fill("mine\n");
    // The change may precede the page's subscription; then saving reports the conflict.
    await expect
      .poll(async () => {
        await putText(here, { container, name, text: "theirs\n" });
        return grace.getByText("changed by another client to").count();
      })
      .toBe(1);
    await save(grace);
    await grace.getByRole("button", { name: "Discard mine" }).click();
    await grace.locator(".preview-text", { hasText: "theirs" }).waitFor();
    expect(await stored(name)).toBe("theirs\n");
  });

  it("keeps metadata that another client set meanwhile", async () => {
    const name = "fifth.md";
    await putText(here, { container, name, text: base });
    const grace = await edit(name);
    await textOf(grace, name).fill(`${base}more\n`);
    const blob = here.blobs.getContainerClient(container).getBlobClient(name);
    await blob.setMetadata({ owner: "ada" });
    await save(grace);
    await grace.getByRole("button", { name: "Save merge" }).click();
    await grace.getByText("fifth.md saved").waitFor();
    expect((await blob.getProperties()).metadata).toEqual({ owner: "ada" });
  });
});
