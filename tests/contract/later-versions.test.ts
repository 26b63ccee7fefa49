import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { blobService } from "../../src/blob/service.ts";
import type { Service } from "../../src/operation/service.ts";
import { latestVersion, type VersionPolicy } from "../../src/protocol/versions.ts";
import type { Log } from "../../src/base/world.ts";
import { fileService } from "../../src/file/service.ts";
import { start, type StartOptions } from "../../src/index.ts";
import { queueService } from "../../src/queue/service.ts";
import { tableService } from "../../src/table/service.ts";
import { rawClient } from "../harness/raw-client.ts";
import { freePorts } from "../harness/server.ts";
import { simService, type SimService } from "../harness/sim-service.ts";
import { batchOf } from "../harness/table-client.ts";

const later = "2099-12-31";
const services = [blobService, queueService, tableService, fileService];
const quiet = () => {};

interface Warned {
  readonly log: Log;
  readonly warnings: { readonly fields: object; readonly message: string }[];
}

function warningLog(): Warned {
  const warnings: Warned["warnings"] = [];
  const warn = (fields: object, message: string) => void warnings.push({ fields, message });
  return { warnings, log: { debug: quiet, info: quiet, warn, error: quiet } };
}

function listing(service: Service, version: string) {
  const path = service.name === "table" ? "/Tables" : "/?comp=list";
  return { method: "GET", path, headers: { "x-ms-version": version } };
}

function sasOf(version: string): string {
  const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
  const values = {
    permissions: AccountSASPermissions.parse("rwdlacupt"),
    services: AccountSASServices.parse("bqtf").toString(),
    resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
    expiresOn: new Date("2099-01-01"),
    version,
  };
  return generateAccountSASQueryParameters(values, credential).toString();
}

describe.each(services)("x-ms-version of a $name request", (service) => {
  it.each<[string, VersionPolicy, number]>([
    [latestVersion, "known", 200],
    [later, "later", 200],
    [later, "any", 200],
    [later, "known", 400],
    ["2021-06-09", "later", 400],
    ["2021-06-09", "any", 200],
    ["2099-13-01", "later", 400],
    ["2099-02-30", "later", 400],
    ["2099-1-1", "later", 400],
    ["3000", "later", 400],
    ["nonsense", "later", 400],
    ["nonsense", "any", 200],
  ])("%s with %s versions accepted gets %d", async (version, versions, status) => {
    const sim = await simService(service, { http: { versions } });
    const answer = await sim.send(listing(service, version));
    expect(answer.status).toBe(status);
    if (status === 400) {
      const text = `${answer.code} ${answer.body}`;
      expect(text).toContain("InvalidHeaderValue");
    } else if (version !== "nonsense") {
      expect(answer.headers["x-ms-version"]).toBe(version);
    }
  });
});

describe("a server", () => {
  it.each<[string, StartOptions, string, number]>([
    ["without flags", {}, later, 200],
    ["with --strictApiVersion", { strictApiVersion: true }, later, 400],
    ["with --skipApiVersionCheck", { skipApiVersionCheck: true }, "nonsense", 200],
    ["with --loose", { loose: true }, "nonsense", 400],
  ])("%s", async (_, options, version, status) => {
    const server = await start({ ...freePorts, ...options, inMemoryPersistence: true });
    const answer = await rawClient(server.urls.queue ?? "").send(listing(queueService, version));
    await server.stop();
    expect(answer.status).toBe(status);
  });
});

describe("a later version", () => {
  it("behaves like the newest known version", async () => {
    const sim = await simService(blobService);
    const send = (version: string, method: string, path: string) =>
      sim.send({
        method,
        path,
        headers: { "x-ms-version": version, "x-ms-blob-type": "BlockBlob" },
      });
    await send(later, "PUT", "/con?restype=container");
    const names = async (version: string) => {
      const { status, headers } = await send(version, "PUT", "/con/b");
      expect(status).toBe(201);
      return Object.keys(headers).toSorted();
    };
    expect(await names(later)).toEqual(await names(latestVersion));
  });

  it("is logged once per value, with a bound", async () => {
    const { log, warnings } = warningLog();
    const sim = await simService(queueService, { log });
    const ask = (version: string) => sim.send(listing(queueService, version));
    await ask(later);
    await ask(later);
    await ask(latestVersion);
    expect(warnings).toEqual([
      {
        fields: { version: later, newestKnown: latestVersion },
        message: "x-ms-version is later than the newest known one; serving it as the newest",
      },
    ]);
    for (let year = 3000; year < 3100; year += 1) await ask(`${year}-01-01`);
    expect(warnings).toHaveLength(16);
  });

  it("is not logged if it is rejected or if any version is accepted", async () => {
    for (const versions of ["known", "any"] as const) {
      const { log, warnings } = warningLog();
      const sim = await simService(queueService, { log, http: { versions } });
      await sim.send(listing(queueService, later));
      expect(warnings).toEqual([]);
    }
  });
});

describe("the version of a signature", () => {
  const ask = (sim: SimService, sv: string, headers: Readonly<Record<string, string>>) =>
    sim.sendAs({ method: "GET", path: `/?comp=list&${sasOf(sv)}`, headers });

  it.each<[string, VersionPolicy, number]>([
    [latestVersion, "known", 200],
    [later, "later", 200],
    [later, "any", 200],
    [later, "known", 403],
  ])("%s with %s versions accepted gets %d", async (sv, versions, status) => {
    const { log, warnings } = warningLog();
    const sim = await simService(blobService, { log, http: { versions } });
    const answer = await ask(sim, sv, { "x-ms-version": latestVersion });
    expect(answer.status).toBe(status);
    expect(warnings).toHaveLength(versions === "later" ? 1 : 0);
  });

  it("is used for a request without x-ms-version", async () => {
    const sim = await simService(blobService);
    const answer = await ask(sim, later, { "x-ms-version": "" });
    expect(answer.status).toBe(200);
    expect(answer.headers["x-ms-version"]).toBe(later);
  });
});

describe("the parts of a batch use the version of the batch", () => {
  it("of blobs", async () => {
    const sim = await simService(blobService);
    const headers = { "x-ms-version": later };
    const put = { ...headers, "x-ms-blob-type": "BlockBlob" };
    await sim.send({ method: "PUT", path: "/con?restype=container", headers });
    await sim.send({ method: "PUT", path: "/con/b", headers: put });
    const path = `/${developmentAccountName}/con/b?${sasOf(later)}`;
    const part =
      "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n" +
      `Content-ID: 0\r\n\r\nDELETE ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`;
    const answer = await sim.send({
      method: "POST",
      path: "/?comp=batch",
      headers: { ...headers, "content-type": "multipart/mixed; boundary=b" },
      body: `${part}--b--\r\n`,
    });
    expect(answer.body).toContain("HTTP/1.1 202 Accepted");
    expect(answer.body).toContain(`x-ms-version: ${later}`);
  });

  it("of entities", async () => {
    const sim = await simService(tableService);
    const json = {
      "content-type": "application/json",
      accept: "application/json;odata=nometadata",
    };
    const headers = { "x-ms-version": later };
    const table = JSON.stringify({ TableName: "things" });
    await sim.send({
      method: "POST",
      path: "/Tables",
      headers: { ...headers, ...json },
      body: table,
    });
    const entity = JSON.stringify({ PartitionKey: "p", RowKey: "r" });
    const lines = Object.entries(json).map(([name, value]) => `${name}: ${value}`);
    const url = `http://127.0.0.1/${developmentAccountName}/things`;
    const insert = [`POST ${url} HTTP/1.1`, ...lines, "", entity].join("\r\n");
    const batch = batchOf([insert]);
    const answer = await sim.send({
      method: "POST",
      path: "/$batch",
      headers: { ...headers, ...batch.headers },
      body: batch.body,
    });
    expect(answer.body).toContain("HTTP/1.1 201 Created");
  });
});
