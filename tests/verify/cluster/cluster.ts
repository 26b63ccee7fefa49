import { once } from "node:events";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { spawnWithin } from "../children.ts";
import { ServerProcess } from "../server-process.ts";
import { Databases } from "./databases.ts";
import { Gate } from "./gate.ts";
import { Network } from "./network.ts";
import type { OldPrimary } from "./planted.ts";

export interface ClusterOptions {
  readonly folder: string;
  readonly program: string;
  readonly webhook: (host: string) => Promise<string>;
  /** Whether a node stays with a replaced primary: a bug of the set-up. */
  readonly oldPrimary?: OldPrimary | undefined;
}

export interface Node {
  readonly name: string;
  readonly server: ServerProcess;
  /** At the gate. */
  readonly port: number;
}

const nodesCount = 3;
const firstPort = 6001;
const bucketPort = 9000;

/** Three nodes, a database with a standby, a bucket and the gate, each on a machine of its own. */
export class Cluster {
  readonly network = new Network();
  readonly nodes: Node[] = [];
  readonly #options: ClusterOptions;
  readonly #gate: Gate;
  readonly #bucket: ChildProcess;
  #databases: Databases | undefined;

  private constructor(options: ClusterOptions) {
    this.#options = options;
    for (const name of ["gate", "bucket", "db1", "db2"]) this.network.add(name);
    this.#gate = new Gate(this.network.within("gate"));
    const program = join(import.meta.dirname, "bucket-process.js");
    const words = [program, this.network.addressOf("bucket"), String(bucketPort)];
    const stdio = ["ignore", "inherit", "inherit", "ipc"] as const;
    this.#bucket = spawnWithin(this.network.within("bucket"), words, { stdio: [...stdio] });
  }

  static async open(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options);
    const { network } = cluster;
    const machineOf = (name: string) => ({
      host: network.addressOf(name),
      within: network.within(name),
    });
    const [[bucket]] = (await Promise.all([
      once(cluster.#bucket, "message"),
      Databases.open([
        ["db1", machineOf("db1")],
        ["db2", machineOf("db2")],
      ]).then((databases) => (cluster.#databases = databases)),
    ])) as [[BucketFacts], Databases];
    const webhook = await options.webhook(network.own);
    for (let index = 0; index < nodesCount; index += 1) {
      await cluster.#addNode(index, bucket, webhook);
    }
    return cluster;
  }

  get databases(): Databases {
    if (this.#databases === undefined) throw new Error("there is no database yet");
    return this.#databases;
  }

  get gate(): Gate {
    return this.#gate;
  }

  /** What the bucket does with one of the next requests. */
  troubleBucket(trouble: 503 | "break" | "lose-answer"): void {
    this.#bucket.send(trouble);
  }

  /** The standby becomes the primary, and nodes are sent there. */
  async failOver(pause: () => Promise<void>): Promise<void> {
    const { oldPrimary } = this.#options;
    await this.databases.promote();
    const target = this.databases.primary.machine.host;
    for (const { port } of oldPrimary === undefined ? this.nodes : this.nodes.slice(1)) {
      await this.#gate.order({ port, target, cut: true });
    }
    await pause();
    this.databases.standby.instance.pause("SIGCONT");
    if (oldPrimary === "written") await this.databases.commitAlone();
    await pause();
    await this.databases.rebuildStandby();
    for (const { port } of this.nodes) await this.#gate.order({ port, target });
  }

  async close(): Promise<void> {
    for (const { server } of this.nodes) await server.kill("SIGTERM");
    await this.databases.close();
    this.#bucket.disconnect();
  }

  async #addNode(index: number, bucket: BucketFacts, webhook: string): Promise<void> {
    const { folder, program } = this.#options;
    const name = `node${index + 1}`;
    const port = firstPort + index;
    const host = this.network.add(name);
    await this.#gate.order({ port, target: this.databases.primary.machine.host });
    const server = new ServerProcess({
      program,
      location: join(folder, name),
      store: `postgres://postgres@${this.network.addressOf("gate")}:${port}/postgres`,
      webhook,
      preloads: [join(import.meta.dirname, "..", "clock-jump.js")],
      machine: {
        host,
        within: this.network.within(name),
        options: [`--content=${bucket.location}`],
        log: join(folder, `${name}.log`),
        env: {
          AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
        },
      },
    });
    await server.start();
    this.nodes.push({ name, server, port });
  }
}

interface BucketFacts {
  readonly location: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}
