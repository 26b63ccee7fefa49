import { expectStatus, storeMany, type AbusiveInput, type StallClients } from "./stall-client.ts";

const messagesMax = 10_000;
const message = (text: string): string =>
  `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;

const queues: readonly AbusiveInput[] = [
  {
    name: "List Queues of 5,000",
    async prepare({ queue, server }) {
      await storeMany(server.urls.queue, 5000, (at) => ({
        method: "PUT",
        path: `/queue${at}`,
        headers: { "x-ms-meta-a": "v".repeat(7000) },
      }));
      const path = "/?comp=list&include=metadata";
      return () => expectStatus(queue, 200, { method: "GET", path });
    },
  },
  {
    name: "Clear Messages of 10,000",
    isPreparedAgain: true,
    async prepare({ queue, server }) {
      await storeMany(server.urls.queue, messagesMax, () => ({
        method: "POST",
        path: "/queue0/messages",
        body: message("x"),
      }));
      return () => expectStatus(queue, 204, { method: "DELETE", path: "/queue0/messages" });
    },
  },
  {
    name: "Get Messages of 32 × 64 KiB of references",
    isPreparedAgain: true,
    async prepare({ queue, server }) {
      const body = message("&amp;".repeat(13_000));
      await storeMany(server.urls.queue, 32, () => ({
        method: "POST",
        path: "/queue1/messages",
        body,
      }));
      const path = "/queue1/messages?numofmessages=32";
      return () => expectStatus(queue, 200, { method: "GET", path });
    },
  },
  {
    name: "Set Queue ACL of many policies",
    async prepare({ queue }) {
      const body = `<SignedIdentifiers>${"<SignedIdentifier/>".repeat(800)}</SignedIdentifiers>`;
      return () => queue.send({ method: "PUT", path: "/queue1?comp=acl", body });
    },
  },
];

const entriesMax = 5000;
const rangesMax = 10_000;
const fileOf = (bytes: number) => ({ "x-ms-type": "file", "x-ms-content-length": String(bytes) });

let sharesDeleted = 0;
let areRangesCleared = false;

async function createFiles({ file, server }: StallClients, share: string): Promise<void> {
  await expectStatus(file, 201, { method: "PUT", path: `/${share}?restype=share` });
  await storeMany(server.urls.file, entriesMax, (at) => ({
    method: "PUT",
    path: `/${share}/${at}${"n".repeat(200)}`,
    headers: fileOf(0),
  }));
}

async function storeRanges({ server }: StallClients): Promise<void> {
  await storeMany(server.urls.file, rangesMax, (at) => ({
    method: "PUT",
    path: "/files/f?comp=range",
    headers: { "x-ms-write": "update", "x-ms-range": `bytes=${at * 1024}-${at * 1024 + 511}` },
    body: "x".repeat(512),
  }));
  areRangesCleared = false;
}

const files: readonly AbusiveInput[] = [
  {
    name: "List Directory of 5,000 files",
    async prepare(clients) {
      const { file } = clients;
      await createFiles(clients, "files");
      const include = "timestamps,etag,attributes,permissionkey";
      const path = `/files?restype=directory&comp=list&include=${include}`;
      const headers = { "x-ms-file-extended-info": "true" };
      return () => expectStatus(file, 200, { method: "GET", path, headers });
    },
  },
  {
    name: "List Ranges of 10,000 fragments",
    async prepare(clients) {
      const { file } = clients;
      await expectStatus(file, 201, { method: "PUT", path: "/files/f", headers: fileOf(2 ** 30) });
      await expectStatus(file, 201, { method: "PUT", path: "/files?restype=share&comp=snapshot" });
      await storeRanges(clients);
      return () => expectStatus(file, 200, { method: "GET", path: "/files/f?comp=rangelist" });
    },
  },
  {
    name: "List Ranges against a snapshot",
    async prepare({ file }) {
      const listed = await file.send({ method: "GET", path: "/?comp=list&include=snapshots" });
      const at = /<Snapshot>([^<]+)</.exec(listed.body.toString())?.[1] ?? "";
      const path = `/files/f?comp=rangelist&prevsharesnapshot=${at}`;
      return () => expectStatus(file, 200, { method: "GET", path });
    },
  },
  {
    name: "Clear Range over 10,000 fragments",
    isPreparedAgain: true,
    async prepare(clients) {
      const { file } = clients;
      if (areRangesCleared) await storeRanges(clients);
      areRangesCleared = true;
      const headers = { "x-ms-write": "clear", "x-ms-range": `bytes=0-${2 ** 30 - 1}` };
      return () => expectStatus(file, 201, { method: "PUT", path: "/files/f?comp=range", headers });
    },
  },
  {
    name: "Create Permission of 32 kB",
    async prepare({ file }) {
      const permission = `O:SYG:SYD:${"(A;;FA;;;SY)".repeat(2500)}`;
      const body = JSON.stringify({ permission });
      const path = "/files?restype=share&comp=filepermission";
      const headers = { "content-type": "application/json" };
      return () => file.send({ method: "PUT", path, body, headers });
    },
  },
  {
    name: "Create File with a permission of repeated letters",
    async prepare({ file }) {
      const headers = { ...fileOf(0), "x-ms-file-permission": `O:${"G:xD:".repeat(1600)}!` };
      return () => file.send({ method: "PUT", path: "/files/sddl", headers });
    },
  },
  {
    name: "Create File below 250 directories",
    async prepare({ file }) {
      let path = "/files";
      for (let depth = 0; depth < 120; depth += 1) {
        path += "/d";
        await expectStatus(file, 201, { method: "PUT", path: `${path}?restype=directory` });
      }
      return () =>
        expectStatus(file, 201, { method: "PUT", path: `${path}/f`, headers: fileOf(1) });
    },
  },
  {
    name: "Snapshot Share of 5,000 files",
    async prepare({ file }) {
      const path = "/files?restype=share&comp=snapshot";
      return () => expectStatus(file, 201, { method: "PUT", path });
    },
  },
  {
    name: "Delete Share of 5,000 files",
    isPreparedAgain: true,
    async prepare(clients) {
      const { file } = clients;
      const share = sharesDeleted === 0 ? "files" : `files-${sharesDeleted}`;
      // The first measurement has deleted the one of the other inputs.
      if (sharesDeleted > 0) await createFiles(clients, share);
      sharesDeleted += 1;
      const headers = { "x-ms-delete-snapshots": "include" };
      const path = `/${share}?restype=share`;
      return () => expectStatus(file, 202, { method: "DELETE", path, headers });
    },
  },
];

export const otherInputs: readonly AbusiveInput[] = [...queues, ...files];
