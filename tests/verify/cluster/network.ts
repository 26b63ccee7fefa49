import { execFileSync } from "node:child_process";

/** Which way packets are lost between two machines. */
export type Direction = "both" | "there" | "back";

interface Machine {
  readonly name: string;
  readonly address: string;
  /** The end of its cable at the switch. */
  readonly port: string;
}

const prefix = "10.77.0.";
const firstHost = 10;

/**
 * Machines of a network on this one: network namespaces with a cable each to a switch, which this
 * process is connected to as well. The kernel loses packets where a route or a cable is cut, so
 * connections hang as they do in a real network, without an error.
 *
 * This process must have a network namespace of its own, so that nothing outside is changed.
 */
export class Network {
  /** The address of this process. */
  readonly own = `${prefix}1`;
  readonly #machines = new Map<string, Machine>();
  /** Namespaces are named for the whole system. */
  readonly #tag = `etg${process.pid}`;

  constructor() {
    ip("link", "set", "lo", "up");
    ip("link", "add", "switch", "type", "bridge");
    ip("addr", "add", `${this.own}/24`, "dev", "switch");
    ip("link", "set", "switch", "up");
    process.once("exit", () => this.#close());
  }

  add(name: string): string {
    const space = `${this.#tag}${name}`;
    const port = `to-${name}`;
    const address = `${prefix}${firstHost + this.#machines.size}`;
    ip("netns", "add", space);
    this.#machines.set(name, { name: space, address, port });
    ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space);
    ip("link", "set", port, "master", "switch");
    ip("link", "set", port, "up");
    ip("-n", space, "addr", "add", `${address}/24`, "dev", "eth0");
    ip("-n", space, "link", "set", "lo", "up");
    ip("-n", space, "link", "set", "eth0", "up");
    return address;
  }

  addressOf(name: string): string {
    return this.#machine(name).address;
  }

  /** The words before a command that runs on the machine. */
  within(name: string): readonly string[] {
    return ["ip", "netns", "exec", this.#machine(name).name];
  }

  /** Packets between two machines are lost; connections stay open on both. */
  partition(one: string, other: string, direction: Direction): void {
    if (direction !== "back") this.#blackhole("add", one, other);
    if (direction !== "there") this.#blackhole("add", other, one);
  }

  heal(one: string, other: string, direction: Direction): void {
    if (direction !== "back") this.#blackhole("del", one, other);
    if (direction !== "there") this.#blackhole("del", other, one);
  }

  /** The cable of a machine. */
  setCable(name: string, isUp: boolean): void {
    ip("link", "set", this.#machine(name).port, isUp ? "up" : "down");
  }

  #blackhole(action: "add" | "del", from: string, to: string): void {
    const { name } = this.#machine(from);
    ip("-n", name, "route", action, "blackhole", `${this.addressOf(to)}/32`);
  }

  #machine(name: string): Machine {
    const machine = this.#machines.get(name);
    if (machine === undefined) throw new Error(`no machine ${name}`);
    return machine;
  }

  #close(): void {
    for (const { name } of this.#machines.values()) ip("netns", "del", name);
  }
}

function ip(...words: readonly string[]): void {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "inherit"] });
}
