import { ShareServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { testServer } from "../harness/server.ts";
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
  it("lets in whoever encrypts", async () => {
    expect(await list("sealed", "--client-protection=encrypt")).toContain("blocks of size");
  });

  it("makes a client encrypt that could do without", async () => {
    expect(await list("sealed")).toContain("blocks of size");
  });

  it("refuses a client that cannot, as no other account does", async () => {
    expect(await list("open", ...old)).toContain("blocks of size");
    expect(await list("sealed", ...old)).toContain("NT_STATUS_ACCESS_DENIED");
  });
});
