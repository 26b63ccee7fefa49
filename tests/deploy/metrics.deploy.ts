import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCommand, type StartedCommand } from "../cli/start-command.ts";
import { rawClient } from "../harness/raw-client.ts";
import { runInRuntime, runtimeWords, work } from "./docker.ts";
import { panelQueries } from "./panel-queries.ts";
import { until } from "./until.ts";

const folder = join(work, "prometheus");
const token = "a token for the admin listener";
const address = "http://127.0.0.1:9090";
/** Scraped every second; several scrapes for a rate. */
const rateInterval = "20s";
const responseMillisecondsMax = 10_000;
/** Of all queries, and the load before them. */
const panelsMillisecondsMax = 60_000;
const writers = 8;
const rounds = 12;
let server: StartedCommand;
let prometheus: ChildProcess;

interface QueryResponse {
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

async function textOf(url: string, headers: Readonly<Record<string, string>> = {}) {
  const signal = AbortSignal.timeout(responseMillisecondsMax);
  return (await fetch(url, { headers, signal })).text();
}

async function get(path: string): Promise<unknown> {
  return JSON.parse(await textOf(`${address}${path}`));
}

async function resultsOf(query: string): Promise<readonly string[]> {
  const { data } = (await get(`/api/v1/query?query=${encodeURIComponent(query)}`)) as QueryResponse;
  return data.result.map(({ value }) => value[1]).filter((value) => value !== "NaN");
}

/** Writes with conditions that fail, leases that are held, and reads of what has not changed. */
async function makeConflicts(): Promise<void> {
  const blob = rawClient(server.urlOf("Blob"));
  const headers = { "x-ms-blob-type": "BlockBlob" };
  const put = (more: object) =>
    blob.send({ method: "PUT", path: "/load/b", headers: { ...headers, ...more }, body: "text" });
  await blob.send({ method: "PUT", path: "/load?restype=container" });
  await put({});
  for (let round = 0; round < rounds; round += 1) {
    const { headers: found } = await blob.send({ method: "HEAD", path: "/load/b" });
    const etag = String(found["etag"]);
    const sent = Array.from({ length: writers }, () => put({ "if-match": etag }));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    const { headers: now } = await blob.send({ method: "HEAD", path: "/load/b" });
    const unchanged = { "if-none-match": String(now["etag"]) };
    await blob.send({ method: "GET", path: "/load/b", headers: unchanged });
    const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" };
    const lease = { method: "PUT", path: `/load/l${round}?comp=lease`, headers: acquire };
    await blob.send({ method: "PUT", path: `/load/l${round}`, headers, body: "text" });
    await blob.send(lease);
    expect((await blob.send(lease)).status).toBe(409);
  }
}

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  cpSync("deploy/prometheus", join(folder, "rules"), { recursive: true });
  const listeners = ["blob", "queue", "table", "file", "dfs", "smb", "admin"];
  server = await startCommand([
    process.execPath,
    resolve("bin/etagere"),
    ...listeners.map((name) => `--${name}Port=0`),
    `--location=${join(folder, "data")}`,
    "--workers=2",
    // As in the chart: reachable for Prometheus, with a token.
    "--adminHost=0.0.0.0",
    `--adminToken=${token}`,
  ]);
  const { port } = new URL(server.urlOf("admin"));
  const configuration = `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules/alerts.yaml]
scrape_configs:
  - job_name: etagere
    authorization: { credentials: "${token}" }
    static_configs: [{ targets: ["127.0.0.1:${port}"] }]
`;
  writeFileSync(join(folder, "prometheus.yml"), configuration);
  const flags = [`--config.file=${join(folder, "prometheus.yml")}`];
  flags.push(`--storage.tsdb.path=${join(folder, "tsdb")}`, "--web.listen-address=127.0.0.1:9090");
  const words = runtimeWords("prometheus", ...flags);
  prometheus = spawn("chroot", words, { stdio: ["ignore", "ignore", "ignore"] });
  await until("the first scrape", async () => (await resultsOf("etagere_build_info")).length > 0);
});
afterAll(async () => {
  prometheus.kill();
  await server.end();
});

describe("Prometheus", () => {
  it("accepts the alert rules, and their tests pass", () => {
    const rules = join(folder, "rules");
    expect(runInRuntime("promtool", "check", "rules", join(rules, "alerts.yaml"))).toContain(
      "SUCCESS",
    );
    const tested = runInRuntime("promtool", "test", "rules", join(rules, "alerts.test.yaml"));
    expect(tested).toContain("SUCCESS");
  });

  it("accepts all metrics", async () => {
    const admin = server.urlOf("admin").replace("0.0.0.0", "127.0.0.1");
    const path = join(folder, "metrics.txt");
    writeFileSync(path, await textOf(`${admin}/metrics`, { authorization: `Bearer ${token}` }));
    const script = `promtool check metrics --extended < ${path} | head -5`;
    expect(runInRuntime("sh", "-c", script)).toContain("Metric");
  });

  it("answers the query of every panel with data", async () => {
    const unanswered = new Map(panelQueries().map(({ title, query }) => [title, query]));
    expect(unanswered.size).toBeGreaterThan(35);
    const areAnswered = async () => {
      await makeConflicts();
      for (const [title, query] of unanswered) {
        const filled = query
          .replaceAll("$instance", ".*")
          .replaceAll("$__rate_interval", rateInterval);
        if ((await resultsOf(filled)).length > 0) unanswered.delete(title);
      }
      return unanswered.size === 0;
    };
    const limits = { attemptMilliseconds: panelsMillisecondsMax };
    await until("every panel has data", areAnswered, limits).catch((error: unknown) => {
      throw new Error(`no data: ${[...unanswered.keys()].join("; ")}`, { cause: error });
    });
    const conflicts = `sum(rate(etagere_requests_total{status="412"}[${rateInterval}]))`;
    const [rate = "0"] = await resultsOf(conflicts);
    expect(Number(rate)).toBeGreaterThan(0);
  });

  it("raises no alert for a server under load", async () => {
    const response = (await get("/api/v1/alerts")) as {
      readonly data: { readonly alerts: readonly { readonly state: string }[] };
    };
    // A condition that has just begun is pending.
    expect(response.data.alerts.filter(({ state }) => state === "firing")).toEqual([]);
  });
});
