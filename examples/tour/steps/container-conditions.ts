import { AccountSASPermissions, BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

const second = 1000;
const hour = 3600 * second;

export const containerConditions: Step = {
  title: "Containers: metadata and deletion only if nothing has changed",
  async run({ connectionString, name, say, check, pass }) {
    const service = BlobServiceClient.fromConnectionString(connectionString);
    const container = service.getContainerClient(name);
    const { etag: first = "", lastModified = new Date() } = await container.create();
    say("Of the conditions on a container, the client libraries send only dates.");
    say(`The container was last modified at ${lastModified.toUTCString()}.`);
    const later = new Date(lastModified.getTime() + second);
    const unchanged = container.setMetadata(
      { step: "1" },
      { conditions: { ifModifiedSince: later } },
    );
    check("metadata of an unchanged container", await refusalOf(unchanged), "412 ConditionNotMet");
    pass(2);
    await container.setMetadata({ step: "2" });
    const conditions = { ifUnmodifiedSince: later };
    const stale = container.delete({ conditions });
    check("deleting a changed container", await refusalOf(stale), "412 ConditionNotMet");
    const blob = container.getBlockBlobClient("a.txt");
    const { etag = "" } = await container.getProperties();
    await blob.upload("a", 1);
    check("a write to a blob keeps the ETag", (await container.getProperties()).etag, etag);
    say("The server compares If-Match as well, if a client sends it (here without a library).");
    const expiry = new Date(Date.now() + hour);
    const sas = service.generateAccountSasUrl(expiry, AccountSASPermissions.parse("w"), "c");
    const url = `${container.url}${new URL(sas).search}&restype=container&comp=metadata`;
    const write = async (ifMatch: string): Promise<number> =>
      (await fetch(url, { method: "PUT", headers: { "if-match": ifMatch } })).status;
    check("metadata with the first ETag", await write(first), 412);
    check("metadata with the current ETag", await write(etag), 200);
  },
};
