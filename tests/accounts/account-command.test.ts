import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startWorkers } from "../workers/worker-server.ts";
import { clientOf, codeOf, keyOf } from "./account-servers.ts";

const folder = temporaryFolder();
const location = join(folder, "data");
const keyFile = join(folder, "key");

/** Enough new connections that every worker gets some of them. */
const requests = 24;
/** While a command runs, this process does not notice that the server closes idle connections. */
const idleFlag = "--blobKeepAliveTimeout=600";

function run(...words: readonly string[]) {
  const all = [resolve("bin/etagere"), ...words, "--location", location];
  return spawnSync(process.execPath, all, { encoding: "utf8" });
}

const account = (...words: readonly string[]) => run("account", ...words);

/** Logs in with the link to the explorer in a printed text, as its page does. */
async function redeem(text: string): Promise<object> {
  const [, url = "", link = ""] = /(http:\S+)\/#login=(\w+)/.exec(text) ?? [];
  const response = await fetch(`${url}/admin/v1/session`, {
    method: "POST",
    headers: { "x-etagere-admin": "1", "content-type": "application/json" },
    body: JSON.stringify({ link }),
  });
  const { loggedIn, error } = (await response.json()) as {
    readonly loggedIn?: boolean;
    readonly error?: { readonly code: string };
  };
  return error === undefined ? { loggedIn } : { error: error.code };
}

it("manages accounts of a server with workers, and of its folder when it is stopped", async () => {
  const server = await startWorkers(location, idleFlag);
  const urls = { blob: server.urlOf("blob") };
  try {
    const created = account("create", "photos", "versioning=true");
    expect(created.stderr).toBe("");
    expect(await redeem(created.stdout)).toEqual({ loggedIn: true });
    const printed = run("login");
    expect(await redeem(printed.stdout)).toEqual({ loggedIn: true });
    // A link works once.
    expect(await redeem(printed.stdout)).toEqual({ error: "LoginFailed" });
    const [, key = ""] = /key 1: (\S+)/.exec(created.stdout) ?? [];
    const [, kept = ""] = /key 2: (\S+)/.exec(created.stdout) ?? [];
    expect(created.stdout).toContain(`AccountKey=${key};BlobEndpoint=${urls.blob}/photos`);
    const statuses = (each: string) =>
      Promise.all(
        Array.from({ length: requests }, (_, index) =>
          codeOf(clientOf({ urls }, "photos", each).createContainer(`box${index}${each.length}`)),
        ),
      );
    expect(new Set(await statuses(key))).toEqual(new Set([""]));
    writeFileSync(keyFile, `${keyOf(5)}\n`);
    expect(account("rotate-key", "photos", "1", "--keyFile", keyFile).stdout).toContain(keyOf(5));
    expect(new Set(await statuses(key))).toEqual(new Set(["AuthenticationFailed"]));
    const properties = clientOf({ urls }, "photos", kept).getProperties();
    expect(await codeOf(properties)).toBe("");
    expect(account("list").stdout).toMatch(/^photos +stored$/m);
    expect(account("delete", "photos").stderr).toContain("has data");
  } finally {
    await server.end();
  }
  expect(account("settings", "photos", "versioning=false").stdout).toContain('"versioning": false');
  expect(account("rotate-key", "photos", "2").stdout).toContain(`key 1: ${keyOf(5)}`);
  const deleted = account("delete", "photos", "--force");
  expect([deleted.stderr, deleted.stdout]).toEqual(["", "photos: deleted\n"]);
  expect(account("list", "--json").stdout).not.toContain("photos");
});
