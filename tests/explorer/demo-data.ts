import { TableClient, TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { ShareServiceClient, type ShareClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { crc32, deflateSync } from "node:zlib";
import { WireClient } from "../smb-wire/wire-client.ts";
import { lockBody, openFile } from "../smb-wire/wire-messages.ts";
import type { EtagereServer } from "../../src/index.ts";

const insecure = { allowInsecureConnection: true };
const cities = ["Lisbon", "Oslo", "Kyoto", "Quito", "Accra"] as const;
const readme = `# Library

Books, reports and scans of the archive. New files arrive in \`incoming/\`.

- \`reports/\`: one file for each month
- \`scans/\`: pages as images
- \`catalogue.csv\`: all titles
`;

/** Data as a small company has it, in all services: for screenshots and for walks through the
 *  explorer. */
export async function fillDemo(server: EtagereServer): Promise<void> {
  const { connectionString } = server;
  await fillBlobs(BlobServiceClient.fromConnectionString(connectionString));
  await fillTables(connectionString);
  await fillQueues(QueueServiceClient.fromConnectionString(connectionString));
  await fillShares(ShareServiceClient.fromConnectionString(connectionString));
}

async function fillBlobs(service: BlobServiceClient): Promise<void> {
  for (const name of ["backups", "invoices", "logs", "photos"]) await service.createContainer(name);
  await service.createContainer("public-assets", { access: "blob" });
  const library = service.getContainerClient("library");
  await library.create({ metadata: { owner: "archive", cost: "4711" } });
  await putBlob(library, "README.md", readme, "text/markdown");
  const titles = Array.from({ length: 60 }, (_, at) => `${1900 + at},"Title ${at}",${at % 7}`);
  const catalogue = `year,title,shelf\n${titles.join("\n")}\n`;
  await putBlob(library, "catalogue.csv", catalogue, "text/csv");
  const config = JSON.stringify({ retentionDays: 30, languages: ["en", "de"], isOpen: true });
  await putBlob(library, "settings.json", config, "application/json");
  await putBlob(library, "scans/cover.png", coverImage(), "image/png");
  await putBlob(library, "firmware.bin", Buffer.alloc(4096, "\0\u0001binary"), "");
  for (let month = 1; month <= 12; month += 1) {
    const name = `reports/2026/${String(month).padStart(2, "0")}-sales-report-of-the-month.txt`;
    await putBlob(library, name, `Report of month ${month}\n`.repeat(40 * month), "text/plain");
  }
  for (let page = 1; page <= 30; page += 1) {
    const name = `incoming/page-${String(page).padStart(3, "0")}.txt`;
    await putBlob(library, name, `Page ${page}\n`.repeat(page), "text/plain");
  }
  const tagged = library.getBlobClient("reports/2026/01-sales-report-of-the-month.txt");
  await tagged.setTags({ stage: "final", department: "sales" });
  await library.getBlobClient("catalogue.csv").setMetadata({ source: "import", checked: "yes" });
  const log = service.getContainerClient("logs").getAppendBlobClient("2026-11-16.log");
  await log.create();
  await log.appendBlock("10:00 started\n10:05 ready\n", 26);
}

async function putBlob(
  container: ContainerClient,
  name: string,
  content: string | Buffer,
  blobContentType: string,
): Promise<void> {
  const options = blobContentType === "" ? {} : { blobHTTPHeaders: { blobContentType } };
  const bytes = Buffer.from(content as string);
  await container.getBlockBlobClient(name).upload(bytes, bytes.length, options);
}

async function fillTables(connectionString: string): Promise<void> {
  const service = TableServiceClient.fromConnectionString(connectionString, insecure);
  for (const name of ["customers", "devices", "sessions"]) await service.createTable(name);
  const orders = TableClient.fromConnectionString(connectionString, "orders", insecure);
  await orders.createTable();
  for (let at = 0; at < 120; at += 1) {
    await orders.createEntity({
      partitionKey: cities[at % cities.length] ?? "",
      rowKey: `2026-${String(1000 + at)}`,
      customer: `Customer ${at % 17}`,
      items: 1 + (at % 9),
      total: { type: "Double", value: String(19.5 + at * 3) },
      paid: at % 4 !== 0,
      placed: new Date(Date.UTC(2026, 10, 1 + (at % 16), at % 24)),
      tracking: { type: "Int64", value: String(9_007_199_254_740_993n + BigInt(at)) },
    });
  }
}

async function fillQueues(service: QueueServiceClient): Promise<void> {
  for (const name of ["emails", "invoices", "invoices-poison"]) await service.createQueue(name);
  const queue = service.getQueueClient("thumbnails");
  await queue.create();
  for (let at = 1; at <= 14; at += 1) {
    const text = JSON.stringify({ task: "resize", image: `photos/holiday-${at}.jpg`, width: 640 });
    await queue.sendMessage(at % 2 === 0 ? text : Buffer.from(text).toString("base64"));
  }
  await queue.receiveMessages({ numberOfMessages: 4, visibilityTimeout: 3600 });
  await service.getQueueClient("emails").sendMessage("Welcome, Ada!");
}

async function fillShares(service: ShareServiceClient): Promise<void> {
  await service.createShare("archive");
  await service.createShare("projects");
  const share = service.getShareClient("documents");
  await share.create({ quota: 50 });
  for (const folder of ["Contracts", "Contracts/2026", "Plans", "Templates"]) {
    await share.getDirectoryClient(folder).create();
  }
  for (const path of ["Budget 2026.csv", "Minutes.txt", "Roadmap.md"]) {
    await putFile(share, "", path, `${path}\n`.repeat(50));
  }
  for (let at = 1; at <= 6; at += 1) {
    await putFile(
      share,
      "Contracts/2026",
      `contract-${at}.txt`,
      `Contract ${at}\n`.repeat(20 * at),
    );
  }
  const disk = share.rootDirectoryClient.getFileClient("disk.img");
  await disk.create(8 * 1024 * 1024);
  await disk.uploadRange("x".repeat(4096), 0, 4096);
  await disk.uploadRange("y".repeat(65_536), 3 * 1024 * 1024, 65_536);
}

async function putFile(share: ShareClient, folder: string, name: string, text: string) {
  const file = share.getDirectoryClient(folder).getFileClient(name);
  await file.create(text.length);
  await file.uploadRange(text, 0, text.length);
}

/** Leases, SMB locks, a deadlock and rejected requests. Ends with the returned function. */
export async function holdDemo(server: EtagereServer): Promise<() => void> {
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
  const library = blobs.getContainerClient("library");
  await library.getBlobClient("settings.json").getBlobLeaseClient().acquireLease(60);
  await library.getBlobClient("catalogue.csv").getBlobLeaseClient().acquireLease(-1);
  await blobs.getContainerClient("backups").getBlobLeaseClient().acquireLease(-1);
  const [one, two] = [await connect(server), await connect(server)];
  const [a1, b1] = [await openFile(one, "Minutes.txt"), await openFile(one, "Roadmap.md")];
  const [a2, b2] = [await openFile(two, "Minutes.txt"), await openFile(two, "Roadmap.md")];
  const range = (at: number, flags: number) => ({ at, length: 10, flags });
  await one.ask(10, lockBody(a1, range(0, 0x12)));
  await two.ask(10, lockBody(b2, range(0, 0x12)));
  void one.ask(10, lockBody(b1, range(5, 0x02)));
  await one.interim(1);
  void two.ask(10, lockBody(a2, range(5, 0x02)));
  await two.interim(1);
  return () => {
    one.end();
    two.end();
  };
}

function connect(server: EtagereServer): Promise<WireClient> {
  return WireClient.ready(server.smbUrl, "documents");
}

/** Requests with failing preconditions and without the required lease. */
export async function rejectDemo(server: EtagereServer): Promise<void> {
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
  const library = blobs.getContainerClient("library");
  const report = library.getBlockBlobClient("reports/2026/01-sales-report-of-the-month.txt");
  const { etag = "" } = await report.getProperties();
  const conditions = { ifMatch: '"0x8DE251B7A0C1000"' };
  const settings = library.getBlockBlobClient("settings.json");
  await Promise.allSettled([
    report.upload("two", 3, { conditions }),
    report.getProperties({ conditions: { ifNoneMatch: etag } }),
    settings.upload("{}", 2),
    settings.delete(),
    blobs.createContainer("library"),
  ]);
}

const imagePixels = 160;

/** A picture with colours, so that previews show something. */
function coverImage(): Buffer {
  const line = (y: number): Buffer => {
    const pixels = Array.from({ length: imagePixels }, (_, x) => [
      x + 60,
      y + 40,
      255 - (x + y) / 2,
    ]);
    return Buffer.from([0, ...pixels.flat().map((value) => Math.min(255, Math.floor(value)))]);
  };
  const lines = Buffer.concat(Array.from({ length: imagePixels }, (_, y) => line(y)));
  const size = Buffer.alloc(13);
  size.writeUInt32BE(imagePixels, 0);
  size.writeUInt32BE(imagePixels, 4);
  size.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const parts = [
    chunk("IHDR", size),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...parts]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
