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
import { wait } from "./wait.ts";

interface Member {
  readonly name: string;
  readonly machine: DatabaseMachine;
  instance: Instance;
}

const port = 5432;
const pollMilliseconds = 50;
/** Statements of a node that was cut off must not keep the lock of commits for long. */
const settings = ["listen_addresses=*", "tcp_keepalives_idle=2", "tcp_keepalives_interval=1"];

/** A primary and a synchronous standby, each on a machine of its own. */
export class Databases {
  /** One for each copy: the socket of the system has the same name in all of them. */
  readonly #folders: string[] = [];
  readonly #members: [Member, Member];

  private constructor(machines: readonly [string, DatabaseMachine][]) {
    const memberOf = ([name, machine]: [string, DatabaseMachine]): Member => ({
      name,
      machine,
      instance: this.#instance(machine),
    });
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

  async close(): Promise<void> {
    for (const { instance } of this.#members) {
      instance.pause("SIGCONT");
      await instance.end("SIGQUIT");
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
