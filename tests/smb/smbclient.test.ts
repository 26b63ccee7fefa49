import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { freshName, testServer } from "../harness/server.ts";
import { runTool, smbclient as runSmbclient } from "./run-smbclient.ts";

const held = testServer({ smbOldestDialect: true });
const folder = temporaryFolder();
const login = `${developmentAccountName}%${developmentAccountKey}`;
let share = "";

beforeAll(async () => {
  share = freshName("client");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
  writeFileSync(join(folder, "body"), body);
});

const body = Buffer.from(Array.from({ length: 3_000_001 }, (_, index) => (index * 7) & 0xff));

const run = (words: readonly string[]) => runTool("smbclient", words);
const smbclient = (commands: string, ...words: readonly string[]) =>
  runSmbclient({ smbUrl: held.server.smbUrl, share }, commands, ...words);

describe("smbclient", () => {
  it.each(["SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"])("speaks %s", async (dialect) => {
    const only = ["-m", dialect, `--option=client min protocol=${dialect}`];
    expect(await smbclient("ls", ...only)).toContain("blocks of size");
  });

  it.each(["HMAC-SHA256", "AES-128-CMAC", "AES-128-GMAC"])("signs with %s", async (algorithm) => {
    const option = `--option=client smb3 signing algorithms=${algorithm}`;
    expect(await smbclient("ls", "--client-protection=sign", option)).toContain("blocks of size");
  });

  it.each(["AES-128-CCM", "AES-128-GCM", "AES-256-CCM", "AES-256-GCM"])(
    "encrypts with %s",
    async (algorithm) => {
      const option = `--option=client smb3 encryption algorithms=${algorithm}`;
      expect(await smbclient("ls", "--client-protection=encrypt", option)).toContain(
        "blocks of size",
      );
    },
  );

  it("lists the shares of the account", async () => {
    const { hostname, port } = new URL(held.server.smbUrl);
    expect(await run(["-L", hostname, "-p", port, "-U", login])).toContain(share);
  });

  it("uploads, copies, renames, finds in any case, and downloads the same bytes", async () => {
    await smbclient(`lcd ${folder}; mkdir d; put body d/a.bin; scopy d/a.bin d/c.bin`);
    await smbclient(`lcd ${folder}; rename d/a.bin d/b.bin; get D/B.BIN back; get d/c.bin copy`);
    expect(readFileSync(join(folder, "back")).equals(body)).toBe(true);
    expect(readFileSync(join(folder, "copy")).equals(body)).toBe(true);
    expect(await smbclient("ls d/*.BIN")).toMatch(/b\.bin[\s\S]*c\.bin/);
  });

  it("gets the errors of the protocol", async () => {
    await smbclient(`lcd ${folder}; mkdir r; put body r/file; setmode r/file +r`);
    expect(await smbclient("mkdir r")).toContain("NT_STATUS_OBJECT_NAME_COLLISION");
    expect(await smbclient("del r/file")).toContain("NT_STATUS_CANNOT_DELETE");
    expect(await smbclient("rmdir r")).toContain("NT_STATUS_DIRECTORY_NOT_EMPTY");
    await smbclient("setmode r/file -r; deltree r");
    expect(await smbclient("ls r")).toContain("NT_STATUS_NO_SUCH_FILE");
  });
});
