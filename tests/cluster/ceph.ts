import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Credentials } from "../../src/content/s3/signature.ts";
import { freePort } from "../harness/free-port.ts";

/**
 * A small Ceph cluster in a temporary folder: one monitor, one manager, three object stores, two
 * gateways. It runs with low priority, because it shares the machine with the server under test.
 */
export interface Ceph {
  readonly gatewayPorts: readonly number[];
  readonly credentials: Credentials;
  killStore(index: number): Promise<void>;
  startStore(index: number): Promise<void>;
  killGateway(index: number): Promise<void>;
  startGateway(index: number): Promise<void>;
  status(): string;
  stop(): Promise<void>;
}

const storesCount = 3;
const gatewaysCount = 2;
const pollsMax = 600;
const pollMilliseconds = 200;
const blockBytes = 2 ** 31;
const credentials = { accessKeyId: "etagere", secretAccessKey: "secret-of-the-test" };

export async function openCeph(): Promise<Ceph> {
  const folder = mkdtempSync(join(tmpdir(), "etagere-ceph-"));
  const cluster = new Cluster(folder, await freePort());
  try {
    await cluster.start();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

class Cluster implements Ceph {
  readonly credentials = credentials;
  readonly gatewayPorts: number[] = [];
  readonly #folder: string;
  readonly #monitorPort: number;
  readonly #running = new Map<string, ChildProcess>();

  constructor(folder: string, monitorPort: number) {
    this.#folder = folder;
    this.#monitorPort = monitorPort;
  }

  async start(): Promise<void> {
    const id = randomUUID();
    const address = `v2:127.0.0.1:${this.#monitorPort}`;
    writeFileSync(join(this.#folder, "ceph.conf"), configuration(this.#folder, id, address));
    writeFileSync(join(this.#folder, "keyring"), "");
    const map = join(this.#folder, "monmap");
    this.#run("monmaptool", ["--create", "--fsid", id, "--addv", "a", `[${address}]`, map]);
    this.#run("ceph-mon", ["--mkfs", "-i", "a", "--monmap", map]);
    this.#spawn("mon", ["ceph-mon", "-f", "-i", "a"]);
    mkdirSync(join(this.#folder, "mgr.a"));
    this.#spawn("mgr", ["ceph-mgr", "-f", "-i", "a"]);
    for (let index = 0; index < storesCount; index += 1) {
      mkdirSync(join(this.#folder, `osd.${index}`));
      const store = randomUUID();
      this.#run("ceph", ["osd", "new", store, String(index)]);
      this.#run("ceph-osd", ["-i", String(index), "--mkfs", "--osd-uuid", store]);
      await this.startStore(index);
    }
    const { accessKeyId, secretAccessKey } = credentials;
    const keys = [`--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`];
    const user = ["user", "create", "--uid=etagere", "--display-name=etagere"];
    this.#run("radosgw-admin", [...user, ...keys]);
    for (let index = 0; index < gatewaysCount; index += 1) {
      this.gatewayPorts.push(await freePort());
      await this.startGateway(index);
    }
  }

  async startStore(index: number): Promise<void> {
    this.#spawn(`osd.${index}`, ["ceph-osd", "-f", "-i", String(index)]);
    await until(`store ${index} is up`, async () => {
      const { osds } = JSON.parse(this.#run("ceph", ["osd", "dump", "-f", "json"])) as {
        osds: readonly { osd: number; up: number }[];
      };
      return osds.some(({ osd, up }) => osd === index && up === 1);
    });
  }

  killStore(index: number): Promise<void> {
    return this.#end(`osd.${index}`, "SIGKILL");
  }

  async startGateway(index: number): Promise<void> {
    const port = this.gatewayPorts[index] ?? 0;
    const frontend = `beast endpoint=127.0.0.1:${port} tcp_nodelay=1`;
    // Authentication is disabled, which excludes secured connections.
    const words = ["-f", "-n", "client.admin", "--ms_mon_client_mode=crc"];
    const log = `--log-file=${join(this.#folder, `gateway.${index}.log`)}`;
    const gateway = ["radosgw", ...words, log, `--rgw_frontends=${frontend}`];
    this.#spawn(`rgw.${index}`, gateway);
    await until(`gateway ${index} answers`, async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
      return answer?.status === 200;
    });
  }

  killGateway(index: number): Promise<void> {
    return this.#end(`rgw.${index}`, "SIGKILL");
  }

  status(): string {
    return this.#run("ceph", ["-s"]);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.#end(name, "SIGKILL")));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(program: string, words: readonly string[]): string {
    const timeout = 120_000;
    const all = ["-n", "10", program, "-c", join(this.#folder, "ceph.conf"), ...words];
    const args = program === "monmaptool" ? ["-n", "10", program, ...words] : all;
    const { status, stdout, stderr } = spawnSync("nice", args, { encoding: "utf8", timeout });
    if (status !== 0) throw new Error(`${program} ${words.join(" ")} failed: ${stderr}`);
    return stdout;
  }

  #spawn(name: string, [program = "", ...words]: readonly string[]): void {
    const all = ["-n", "10", program, "-c", join(this.#folder, "ceph.conf"), ...words];
    this.#running.set(name, spawn("nice", all, { stdio: "ignore" }));
  }

  async #end(name: string, signal: "SIGKILL"): Promise<void> {
    const running = this.#running.get(name);
    this.#running.delete(name);
    if (running === undefined || running.exitCode !== null) return;
    const exited = once(running, "exit");
    running.kill(signal);
    await exited;
  }
}

function configuration(folder: string, id: string, address: string): string {
  return `[global]
fsid = ${id}
mon_initial_members = a
mon_host = ${address}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
osd_pool_default_size = 3
osd_pool_default_min_size = 2
osd_pool_default_pg_num = 8
osd_pool_default_pgp_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_max_pg_per_osd = 2000
mon_data_avail_warn = 1
mon_data_avail_crit = 1
mon_osd_min_down_reporters = 1
osd_heartbeat_interval = 2
osd_heartbeat_grace = 6
osd_objectstore = bluestore
bluestore_block_size = ${blockBytes}
run_dir = ${folder}
admin_socket = ${folder}/$name.$pid.asok
log_file = ${folder}/$name.log
mon_data = ${folder}/mon.$id
mgr_data = ${folder}/mgr.$id
osd_data = ${folder}/osd.$id
crash_dir = ${folder}
keyring = ${folder}/keyring
`;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < pollsMax; polls += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  }
  throw new Error(`waited in vain: ${what}`);
}
