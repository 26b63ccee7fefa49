import { ShareServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { SessionFlag } from "../../src/smb/wire/protocol.ts";
import { testServer } from "../harness/server.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { smbclient } from "./run-smbclient.ts";

const key = Buffer.alloc(64, 7).toString("base64");
const settings = { keys: [key, key] };
const held = testServer({
  accounts: {
    open: settings,
    sealed: { ...settings, smb: { requireEncryption: true } },
  },
});

beforeAll(async () => {
  for (const account of ["open", "sealed"]) {
    const url = new URL(held.server.urls.file ?? "");
    const credential = new StorageSharedKeyCredential(account, key);
    const service = new ShareServiceClient(`${url.origin}/${account}`, credential);
    await service.getShareClient("share").create();
  }
});

const list = (account: string, ...words: readonly string[]) =>
  smbclient(
    { smbUrl: held.server.smbUrl, share: "share", login: `${account}%${key}` },
    "ls",
    ...words,
  );
const old = ["-m", "SMB2_10", "--option=client min protocol=SMB2_10"];

describe("an account that requires encryption", () => {
  it("accepts encrypted clients", async () => {
    expect(await list("sealed", "--client-protection=encrypt")).toContain("blocks of size");
  });

  it("makes a client encrypt that would not by itself", async () => {
    expect(await list("sealed")).toContain("blocks of size");
  });

  it("rejects a client without encryption, as no other account does", async () => {
    expect(await list("open", ...old)).toContain("blocks of size");
    expect(await list("sealed", ...old)).toContain("session setup failed: NT_STATUS_ACCESS_DENIED");
  });

  it("rejects unencrypted requests after authentication", async () => {
    const client = await WireClient.open(held.server.smbUrl);
    await client.negotiate(true);
    const login = await client.logIn("sealed", key);
    expect(login.status).toBe(Status.success);
    expect(login.message.readUInt16LE(66) & SessionFlag.encryptData).not.toBe(0);
    expect((await client.connectTo("share")).status).toBe(Status.accessDenied);
    client.end();
  });
});
