import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ShareServiceClient, type ShareClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { freshName, testServer } from "../harness/server.ts";
import { rpcclient, smbclient } from "./run-smbclient.ts";

const held = testServer();
const folder = temporaryFolder();
let share: ShareClient;

beforeAll(async () => {
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  share = service.getShareClient(freshName("versions"));
  await share.create();
});

const ask = (commands: string) =>
  smbclient({ smbUrl: held.server.smbUrl, share: share.name }, commands);

describe("snapshots of a share", () => {
  it("are previous versions that can be listed and read, not changed", async () => {
    const file = share.rootDirectoryClient.getFileClient("report.txt");
    await file.create(3);
    await file.uploadRange("one", 0, 3);
    await share.createSnapshot();
    await file.uploadRange("two", 0, 3);
    const token = /@GMT-[\d.-]+/.exec(await ask("allinfo report.txt"))?.[0];
    expect(token).toMatch(/^@GMT-\d{4}\.\d\d\.\d\d-\d\d\.\d\d\.\d\d$/);
    const past = `\\${token}\\report.txt`;
    await ask(`lcd ${folder}; get ${past} past; get report.txt present`);
    expect(readFileSync(join(folder, "past"), "utf8")).toBe("one");
    expect(readFileSync(join(folder, "present"), "utf8")).toBe("two");
    expect(await ask(`del ${past}`)).toContain("NT_STATUS_");
    expect(await ask(`ls \\${token}\\*`)).toContain("report.txt");
    expect(await ask("ls \\@GMT-2001.01.01-00.00.00\\*")).toContain("NT_STATUS_");
  });
});

describe("the srvsvc service", () => {
  it("lists shares, describes one, and rejects an unknown name", async () => {
    const { smbUrl } = held.server;
    const all = await rpcclient(smbUrl, "netshareenumall 1");
    expect(all).toContain(`netname: ${share.name}`);
    expect(all).toContain("netname: IPC$");
    const one = await rpcclient(smbUrl, `netsharegetinfo ${share.name} 1`);
    expect(one).toContain(`netname: ${share.name}`);
    expect(await rpcclient(smbUrl, "netsharegetinfo nosuchshare 1")).toContain("NETNAMENOTFOUND");
  });
});
