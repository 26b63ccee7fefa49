import {
  RestError,
  ShareServiceClient,
  type ShareClient,
  type ShareFileClient,
} from "@azure/storage-file-share";
import { beforeAll, onTestFinished } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import type { StartOptions } from "../../src/index.ts";
import { startChild } from "../harness/child-server.ts";
import { placeOf } from "../harness/test-store.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";

/** A file with its REST client and its name in the share. */
export interface Target {
  readonly name: string;
  readonly file: ShareFileClient;
}

/** A server with one share, and clients for both protocols. */
export function restAndSmb(options: StartOptions = {}) {
  const held = testServer(options);
  const shareName = freshName("shared");
  let share: ShareClient;
  let service: ShareServiceClient;
  beforeAll(async () => {
    service = ShareServiceClient.fromConnectionString(held.server.connectionString, {
      retryOptions: { maxTries: 1 },
    });
    share = service.getShareClient(shareName);
    await share.create();
  });
  return {
    share: (): ShareClient => share,
    service: (): ShareServiceClient => service,
    /** Authenticated, without a tree connect. */
    loggedIn: async (): Promise<WireClient> => {
      const client = await WireClient.open(held.server.smbUrl);
      await client.negotiate();
      await client.logIn();
      return client;
    },
    ready: (): Promise<WireClient> => WireClient.ready(held.server.smbUrl, shareName),
    restFile: async (text = "0123456789"): Promise<Target> => {
      const name = `${freshName("file")}.txt`;
      const file = share.rootDirectoryClient.getFileClient(name);
      await file.create(text.length);
      await file.uploadRange(text, 0, text.length);
      return { name, file };
    },
  };
}

const account = `AccountName=${developmentAccountName};AccountKey=${developmentAccountKey}`;

/** The shares as another process serves them over REST, until the test ends. */
export async function elsewhere(location: string): Promise<ShareServiceClient> {
  const { store, content } = placeOf({ location });
  const places = Object.entries({ store, content }).flatMap(([name, url]) =>
    url === undefined ? [] : [`--${name}=${url}`],
  );
  const child = await startChild(location, ["--noSmb", ...places]);
  onTestFinished(async () => void (await child.kill("SIGTERM")));
  const endpoint = `FileEndpoint=${child.urls.file}/${developmentAccountName}`;
  return ShareServiceClient.fromConnectionString(
    `DefaultEndpointsProtocol=http;${account};${endpoint}`,
    { retryOptions: { maxTries: 1 } },
  );
}

/** The error code of a request, or "done". */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    // The response to HEAD has no body; the code is in a header.
    return error.response?.headers.get("x-ms-error-code") ?? error.code ?? "";
  }
}
