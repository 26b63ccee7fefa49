import { rmSync } from "node:fs";
import { DefaultAzureCredential } from "@azure/identity";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient, type StoragePipelineOptions } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, afterEach, expect } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import type { EtagereServer } from "../../src/index.ts";
import { makeCertificate } from "../https/certificate.ts";

const names = ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"];

/** A server that verifies tokens, and clients with `DefaultAzureCredential`. The credential caches
 *  tokens per process: each test file can use one server. */
export function credentialWorld() {
  const { folder, cert, key, ca } = makeCertificate();
  const options = { port: 0, cert, key, inMemoryPersistence: true, oauth: "verify" } as const;
  const trusting = { tlsOptions: { ca } } as object as StoragePipelineOptions;
  afterEach(() => {
    for (const name of names) Reflect.deleteProperty(process.env, name);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return { options, trusting, clientsOf: (server: EtagereServer) => clientsOf(server, trusting) };
}

/** Sets what `etagere env` prints. `headers`: of a caller that may ask for it. */
export async function setEnvironment(
  { adminUrl }: EtagereServer,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const url = `${adminUrl}/admin/v1/identity/environment`;
  const response = await fetch(url, { headers: { "x-etagere-admin": "1", ...headers } });
  const { variables } = (await response.json()) as { variables: Record<string, string> };
  expect(Object.keys(variables)).toEqual(names);
  Object.assign(process.env, variables);
}

function clientsOf({ urls }: EtagereServer, trusting: StoragePipelineOptions) {
  const credential = new DefaultAzureCredential();
  const address = (url: string | undefined): string => `${url}/${developmentAccountName}`;
  // The libraries' types of the same options differ.
  const others = trusting as object;
  return {
    blobs: new BlobServiceClient(address(urls.blob), credential, trusting),
    queues: new QueueServiceClient(address(urls.queue), credential, others),
    table: new TableClient(address(urls.table), "things", credential, others),
  };
}
