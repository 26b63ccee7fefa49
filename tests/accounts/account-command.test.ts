import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startCommand } from "../cli/start-command.ts";
import { startWorkers } from "../workers/worker-server.ts";
import { clientOf, codeOf, keyOf } from "./account-servers.ts";

const folder = temporaryFolder();
const location = join(folder, "data");
const keyFile = join(folder, "key");

/** Enough new connections that every worker gets some of them. */
const requests = 24;
/** While a command runs, this process does not notice that the server closes idle connections. */
const idleFlag = "--blobKeepAliveTimeout=600";

function etagere(...words: readonly string[]) {
  return spawnSync(process.execPath, [resolve("bin/etagere"), ...words], { encoding: "utf8" });
}

const run = (...words: readonly string[]) => etagere(...words, "--location", location);
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

it("prints the keys of the first account, although a login is required from then on", async () => {
  const services = ["blob", "queue", "table", "file", "dfs", "smb", "admin"];
  const ports = services.map((name) => `--${name}Port=0`);
  const words = [process.execPath, resolve("bin/etagere"), ...ports];
  const server = await startCommand(words, { folder: temporaryFolder() });
  try {
    // The address alone, without the folder, which has the token.
    const address = ["--url", server.urlOf("admin")];
    const created = etagere("account", "create", "photos", "versioning=true", ...address);
    expect([created.stderr, created.status]).toEqual(["", 0]);
    expect(created.stdout).toMatch(/^key 1: \S+\nkey 2: \S+$/m);
    expect(await redeem(created.stdout)).toEqual({ loggedIn: true });
    const advice = "log in first; name the data folder of the server with --location, or";
    for (const command of [["account", "list"], ["status"], ["events", "tail", "a"]]) {
      const refused = etagere(...command, ...address);
      expect(refused.stderr, command.join(" ")).toContain(advice);
      expect(refused.status).toBe(1);
    }
  } finally {
    await server.end();
  }
});
