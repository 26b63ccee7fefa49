import { request as send } from "node:https";
import type { EtagereServer } from "../../src/index.ts";

export interface StorageRequest {
  readonly ca: string;
  readonly token: string;
  readonly method?: string;
  readonly account?: string;
  /** Below the account. */
  readonly path?: string;
}

/** The status of a request to the blob service with a bearer token. */
export function storageStatus(
  { urls }: EtagereServer,
  request: StorageRequest,
): Promise<number | undefined> {
  const { ca, token, method = "GET", account = "devstoreaccount1" } = request;
  const { path = "/one?restype=container" } = request;
  const headers = {
    authorization: `Bearer ${token}`,
    "x-ms-version": "2023-11-03",
    "content-length": "0",
  };
  return new Promise((resolve, reject) => {
    const url = `${urls.blob}/${account}${path}`;
    const sent = send(url, { method, headers, ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}
