import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  initialise,
  Instance,
  newFolder,
  queryOnce,
  runAsUser,
  type DatabaseMachine,
} from "../../postgres/database.ts";
import { HostFaults } from "./host-faults.ts";
import { wait } from "./wait.ts";

interface Member {
  readonly name: string;
  readonly machine: DatabaseMachine;
  /** Of the machine: they stay when its database is replaced. */
  readonly faults: HostFaults;
  instance: Instance;
}

const port = 5432;
const pollMilliseconds = 50;
const settings = [
  "listen_addresses=*",
  "fsync=on",
  // Statements of a node that was cut off must not keep the lock of commits for long.
  "tcp_keepalives_idle=2",
  "tcp_keepalives_interval=1",
  // The standby connects again soon after a crash of the primary.
  "wal_retrieve_retry_interval=500ms",
];

/** A primary and a synchronous standby, each on a machine of its own. */
export class Databases {
  /** One for each copy: the socket of the system has the same name in all of them. */
  readonly #folders: string[] = [];
  readonly #members: [Member, Member];

  private constructor(machines: readonly [string, DatabaseMachine][]) {
    const memberOf = ([name, { host, within }]: [string, DatabaseMachine]): Member => {
      const faults = new HostFaults();
      this.#folders.push(faults.folder);
      const machine = { host, within: [...within, ...faults.within] };
      return { name, machine, faults, instance: this.#instance(machine) };
    };
    const [first, second] = machines;
    this.#members = [memberOf(first!), memberOf(second!)];
  }

  static async open(machines: readonly [string, DatabaseMachine][]): Promise<Databases> {
    const databases = new Databases(machines);
    const { instance } = databases.primary;
    await initialise(instance.data);
    const everyone = "host all all all trust\nhost replication all all trust\n";
    appendFileSync(join(instance.data, "pg_hba.conf"), everyone);
    await instance.start();
    await databases.#addStandby();
    return databases;
  }

  get primary(): Member {
    return this.#members[0];
  }

  get standby(): Member {
    return this.#members[1];
  }

  /** The standby becomes the primary; the old one is paused, so that it does not know. */
  async promote(): Promise<void> {
    this.primary.instance.pause("SIGSTOP");
    await queryOnce(this.standby.instance.url, "SELECT pg_promote()");
    this.#members.reverse();
    const { url } = this.primary.instance;
    await queryOnce(url, "ALTER SYSTEM RESET synchronous_standby_names");
    await queryOnce(url, "SELECT pg_reload_conf()");
  }

  /** The old primary no longer waits for a standby: a bug of a set-up. */
  async commitAlone(): Promise<void> {
    const { url } = this.standby.instance;
    await queryOnce(url, "ALTER SYSTEM SET synchronous_standby_names = ''");
    await queryOnce(url, "SELECT pg_reload_conf()");
  }

  /** The old primary has returned, is ended, and begins again as a standby. */
  async rebuildStandby(): Promise<void> {
    await this.standby.instance.end("SIGKILL");
    await this.#addStandby();
  }

  /** Waits until a database whose disk failed works again. It starts again by itself, from its
   *  write-ahead log, unless its disk failed then as well. */
  async recover({ instance }: Member): Promise<void> {
    for (;;) {
      if (instance.hasEnded) await instance.start().catch(() => undefined);
      const isUp = await queryOnce(instance.url, "SELECT 1").catch(() => undefined);
      if (isUp !== undefined) return;
      await wait(pollMilliseconds);
    }
  }

  async close(): Promise<void> {
    for (const { instance, faults } of this.#members) {
      instance.pause("SIGCONT");
      await instance.end("SIGQUIT");
      faults.close();
    }
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }

  #instance(machine: DatabaseMachine): Instance {
    const folder = newFolder();
    this.#folders.push(folder);
    return new Instance({ data: join(folder, "data"), port, settings, machine });
  }

  /** It has every commit before a client gets a response. */
  async #addStandby(): Promise<void> {
    const { primary, standby } = this;
    standby.instance = this.#instance(standby.machine);
    const from = ["-h", primary.machine.host, "-p", String(port), "-U", "postgres"];
    const how = ["-D", standby.instance.data, "-R", "-X", "stream", "-c", "fast", "--no-sync"];
    await runAsUser("pg_basebackup", [...from, ...how], standby.machine.within);
    await standby.instance.start();
    const { url } = primary.instance;
    await queryOnce(url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await queryOnce(url, "SELECT pg_reload_conf()");
    const synchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
    while ((await queryOnce(url, synchronous)).rows.length === 0) await wait(pollMilliseconds);
  }
}
