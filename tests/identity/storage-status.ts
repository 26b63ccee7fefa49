import { request } from "node:https";
import type { EtagereServer } from "../../src/index.ts";

export interface StorageRequest {
  readonly ca: string;
  readonly token: string;
  readonly method?: string;
  /** Below the account. */
  readonly path?: string;
}

/** The status of a request to the blob service with a bearer token. */
export function storageStatus(
  { urls }: EtagereServer,
  { ca, token, method = "GET", path = "/one?restype=container" }: StorageRequest,
): Promise<number | undefined> {
  const headers = {
    authorization: `Bearer ${token}`,
    "x-ms-version": "2023-11-03",
    "content-length": "0",
  };
  return new Promise((resolve, reject) => {
    const url = `${urls.blob}/devstoreaccount1${path}`;
    const sent = request(url, { method, headers, ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}
