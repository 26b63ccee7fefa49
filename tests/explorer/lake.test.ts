import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { axeFindings } from "./axe.ts";
import { account, choose, explorer, putText, row, takePicture } from "./explorer.ts";

const here = explorer({ enableHierarchicalNamespace: true });
const container = "lake";

/** The file system, as a client of the Data Lake API sees it. */
function lake() {
  const key = /AccountKey=([^;]+)/.exec(here.server.connectionString)?.[1] ?? "";
  const credential = new StorageSharedKeyCredential(account, key);
  const url = `${here.server.urls.dfs ?? ""}/${account}`;
  return new DataLakeServiceClient(url, credential).getFileSystemClient(container);
}

const put = (name: string, text = name) => putText(here, { container, name, text });
const dialog = (page: Page) => page.getByRole("dialog");
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const inDialog = (page: Page, name: string) =>
  dialog(page).getByRole("button", { name, exact: true }).click();

async function aclOf(path: string): Promise<string> {
  const { acl } = await lake().getDirectoryClient(path).getAccessControl();
  return acl
    .map(
      ({
        defaultScope,
        accessControlType: type,
        entityId,
        permissions: { read, write, execute },
      }) => {
        const letters = (read ? "r" : "-") + (write ? "w" : "-") + (execute ? "x" : "-");
        return `${defaultScope ? "default:" : ""}${type}:${entityId}:${letters}`;
      },
    )
    .join(",");
}

describe("a hierarchical account", () => {
  it("shows, creates, renames and deletes directories", async () => {
    await put("raw/2026/one.csv", "1,2\n");
    await put("raw/two.txt");
    await put("taken/file.txt");
    const page = await here.open(`#/blobs/${account}/${container}`);
    await row(page, "raw/").waitFor();
    await press(page, "New directory");
    await page.getByLabel("Name", { exact: false }).last().fill("empty");
    await inDialog(page, "Create");
    await row(page, "empty/").waitFor();
    await press(page, "New directory");
    await page.getByLabel("Name", { exact: false }).last().fill("empty");
    await inDialog(page, "Create");
    await dialog(page).getByText("Name: empty exists.").waitFor();
    await inDialog(page, "Cancel");

    // The destination exists: nothing is moved, and the message names it.
    await choose(page, "raw/", "Rename");
    await page.getByLabel("Path").fill("taken");
    await inDialog(page, "Rename");
    await dialog(page).getByText("Path: lake/taken exists.").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel("Path").fill("none/raw");
    await inDialog(page, "Rename");
    await dialog(page).getByText("parent directory of lake/none/raw does not exist").waitFor();
    await page.getByLabel("Path").fill("empty/refined");
    await inDialog(page, "Rename");
    await row(page, "raw/").waitFor({ state: "detached" });
    const moved = lake().getFileClient("empty/refined/2026/one.csv");
    expect((await moved.readToBuffer()).toString()).toBe("1,2\n");

    // A flat list shows directories as directories; a file can replace another.
    await row(page, "empty/").click();
    await row(page, "refined/").click();
    await choose(page, "empty/refined/two.txt", "Rename");
    await page.getByLabel("Path").fill("taken/file.txt");
    await page.getByLabel("Replace an existing").check();
    await inDialog(page, "Rename");
    await row(page, "two.txt").waitFor({ state: "detached" });
    const replaced = await lake().getFileClient("taken/file.txt").readToBuffer();
    expect(replaced.toString()).toBe("raw/two.txt");
    await page.getByRole("link", { name: container }).click();
    await press(page, "Flat");
    await row(page, "empty/refined/2026/").first().waitFor();

    await press(page, "Flat");
    await choose(page, "empty/", "Delete");
    await dialog(page).getByText("Folders are deleted with everything in them.").waitFor();
    await inDialog(page, "Delete");
    await row(page, "empty/").waitFor({ state: "detached" });
    expect(await moved.exists()).toBe(false);
    await press(page, "Connect");
    const endpoint = await page.getByLabel("dfs endpoint", { exact: true }).inputValue();
    expect(endpoint).toBe(`${here.server.urls.dfs ?? ""}/${account}`);
  });

  it("shows and changes owner, permissions and access control lists", async () => {
    for (let index = 0; index < 3; index += 1) await put(`data/part/${index}.txt`);
    const page = await here.open(`#/blobs/${account}/${container}`);
    await choose(page, "data/", "Details");
    const detail = page.getByRole("complementary");
    await detail.getByText("rwxr-x---").waitFor();
    await detail.getByRole("tab", { name: "Permissions" }).click();
    await page.getByRole("textbox", { name: "Owner" }).fill("ada");
    await page.getByLabel("Permissions", { exact: true }).fill("99");
    await press(page, "Save permissions");
    await detail.getByText("Permissions: 99 is neither").waitFor();
    await page.getByLabel("Permissions", { exact: true }).fill("1771");
    await press(page, "Save permissions");
    await page.getByText("Permissions saved").waitFor();
    const directory = lake().getDirectoryClient("data");
    const { owner, permissions } = await directory.getAccessControl();
    expect({ owner, sticky: permissions?.stickyBit }).toEqual({ owner: "ada", sticky: true });
    // The page reads the list again after each change, and shows it as it was stored.
    const others = page.getByLabel("Execute of entry 3");
    await expect.poll(() => others.isChecked()).toBe(true);

    // The problem names the entry, and stays until it is corrected.
    await press(page, "Add entry");
    await page.getByLabel("Id of entry 4").fill("grace");
    await press(page, "Save list");
    await detail.getByText("mask: is missing: user:grace needs it.").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await press(page, "Add entry");
    await page.getByLabel("Type of entry 5").selectOption("mask");
    await detail.getByText("mask: is missing").waitFor({ state: "detached" });
    await page.getByLabel("Write of entry 4").check();
    await takePicture(page, "lake");
    await press(page, "Save list");
    await page.getByText("Access control list saved").waitFor();
    expect(await aclOf("data")).toContain("user:grace:rw-");
    expect(await aclOf("data")).toContain("mask::r--");
    await expect.poll(() => page.getByLabel("Id of entry 2").inputValue()).toBe("grace");

    // Another client's change is not overwritten.
    const all = { read: true, write: true, execute: true };
    await directory.setPermissions({
      owner: all,
      group: all,
      other: all,
      stickyBit: false,
      extendedAcls: false,
    });
    await page.getByRole("textbox", { name: "Group" }).fill("staff");
    await press(page, "Save permissions");
    await detail.getByText("Another client changed the permissions.").waitFor();
    await press(page, "Reload");
    await expect
      .poll(() => page.getByLabel("Permissions", { exact: true }).inputValue())
      .not.toContain("t");
    expect((await directory.getAccessControl()).group).not.toBe("staff");
  });

  it("applies entries to everything below a directory, page by page", async () => {
    for (let index = 0; index < 3; index += 1) await put(`deep/part/${index}.txt`);
    const page = await here.open(`#/blobs/${account}/${container}?directory=deep`);
    await page.route(/setAccessControlRecursive/, (route) => {
      const url = route
        .request()
        .url()
        .replace(/maxRecords=\d+/, "maxRecords=2");
      return route.continue({ url });
    });
    await page.getByRole("tab", { name: "Permissions" }).click();
    await press(page, "Add entry");
    await page.getByLabel("Id of entry 4").fill("grace");
    await press(page, "Add entry");
    await page.getByLabel("Scope of entry 5").selectOption("default");
    await page.getByLabel("Id of entry 5").fill("grace");
    await press(page, "Apply recursively");
    await page.getByText("Changed 2 directories and 3 files, done.").waitFor();
    expect(await aclOf("deep/part")).toContain("default:user:grace:r--");
    expect(await aclOf("deep/part/2.txt")).toContain("user:grace:r--");
    expect(await aclOf("deep/part/2.txt")).not.toContain("default");
  });
});
