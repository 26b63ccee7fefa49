import { AzureNamedKeyCredential, generateTableSas } from "@azure/data-tables";
import * as blobs from "@azure/storage-blob";
import * as files from "@azure/storage-file-share";
import * as queues from "@azure/storage-queue";
import type { ServiceName } from "../../src/protocol/names.ts";
import { account, accountKey, type WireRequest } from "./request-of.ts";

/** Tokens of every kind, created by the client libraries. */

const startsOn = new Date("2026-01-02T11:00:00Z");
const expiresOn = new Date("2026-01-02T13:00:00Z");
const blobKey = new blobs.StorageSharedKeyCredential(account, accountKey);
const fileKey = new files.StorageSharedKeyCredential(account, accountKey);
export const queueKey = new queues.StorageSharedKeyCredential(account, accountKey);
export const window = { startsOn, expiresOn };

type BlobValues = Omit<blobs.BlobSASSignatureValues, "containerName">;

export function blobToken(values: BlobValues): string {
  const all = { containerName: "c", ...window, ...values };
  return blobs.generateBlobSASQueryParameters(all, blobKey).toString();
}

export function accountToken(values: Partial<blobs.AccountSASSignatureValues> = {}): string {
  return blobs
    .generateAccountSASQueryParameters(
      {
        ...window,
        services: "bqtf",
        resourceTypes: "sco",
        permissions: blobs.AccountSASPermissions.parse("rwdlacup"),
        ...values,
      },
      blobKey,
    )
    .toString();
}

export const read = blobs.BlobSASPermissions.parse("r");
export const inContainer = blobs.ContainerSASPermissions.parse("rl");
export const snapshot = "2026-01-01T00:00:00.0000000Z";

export interface Sample {
  readonly name: string;
  readonly service: ServiceName;
  readonly path: string;
  readonly token: string;
  readonly kind: string;
}

const versions = ["2015-04-05", "2018-03-28", "2018-11-09", "2020-02-10", "2020-12-06"];

function blobSamples(version: string): Sample[] {
  const overrides = { cacheControl: "no-store", contentType: "text/x", contentLanguage: "de" };
  const limits = { ipRange: { start: "127.0.0.0", end: "127.0.0.9" } };
  const protocol = blobs.SASProtocol.HttpsAndHttp;
  const blob = { version, blobName: "dir/ä b", permissions: read, ...overrides, ...limits };
  const base = { service: "blob", kind: "service-sas" } as const;
  return [
    { ...base, name: "blob", path: "/c/dir/%C3%A4%20b", token: blobToken({ ...blob, protocol }) },
    {
      ...base,
      name: "container",
      path: "/c/any",
      token: blobToken({ version, permissions: inContainer }),
    },
    { ...base, name: "policy", path: "/c/any", token: blobToken({ version, identifier: "p" }) },
  ].map((sample) => ({ ...sample, name: `${sample.name} ${version}` }));
}

export function samples(): Sample[] {
  const momentOf = (values: BlobValues, name: string): Sample => ({
    name,
    service: "blob",
    path: `/c/b?${name}=${snapshot}`,
    token: blobToken({ blobName: "b", permissions: read, ...values }),
    kind: "service-sas",
  });
  return [
    ...versions.flatMap(blobSamples),
    momentOf({ snapshotTime: snapshot }, "snapshot"),
    momentOf({ versionId: snapshot }, "versionid"),
    ...["2015-04-05", "2019-12-12", "2020-12-06"].map((version) => ({
      name: `account ${version}`,
      service: "queue" as const,
      path: "/q/messages",
      token: accountToken({ version }),
      kind: "account-sas",
    })),
    { name: "scope", service: "blob", path: "/c", token: scopedToken(), kind: "account-sas" },
    ...otherServices(),
  ];
}

function scopedToken(): string {
  return accountToken({ encryptionScope: "scope1" });
}

function otherServices(): Sample[] {
  const filePermissions = files.FileSASPermissions.parse("rw");
  const fileValues = { shareName: "s", filePath: "d/f", permissions: filePermissions, ...window };
  const queuePermissions = queues.QueueSASPermissions.parse("rap");
  const queueValues = { queueName: "q", permissions: queuePermissions, ...window };
  const tableKey = new AzureNamedKeyCredential(account, accountKey);
  const range = { startPartitionKey: "a", startRowKey: "1", endPartitionKey: "b" };
  const permissions = { query: true, add: true };
  const tableValues = { permissions, ...window, ...range };
  const kind = "service-sas";
  return [
    {
      name: "file",
      service: "file",
      path: "/s/d/f",
      token: files.generateFileSASQueryParameters(fileValues, fileKey).toString(),
      kind,
    },
    {
      name: "queue",
      service: "queue",
      path: "/q/messages",
      token: queues.generateQueueSASQueryParameters(queueValues, queueKey).toString(),
      kind,
    },
    {
      name: "table",
      service: "table",
      path: "/People()",
      token: generateTableSas("People", tableKey, tableValues),
      kind,
    },
  ];
}

export function wireOf({ service, path, token }: Sample): WireRequest {
  return { service, url: `${path}${path.includes("?") ? "&" : "?"}${token}` };
}
