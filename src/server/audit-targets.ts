import { createSocket } from "node:dgram";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, isIP, type Socket } from "node:net";
import { hostname } from "node:os";
import { connect as connectTls } from "node:tls";
import { formatIso } from "../base/dates.ts";
import type { Clock } from "../base/world.ts";
import type { AuditTarget } from "./audit-delivery.ts";

/** The machines that get the audit log: syslog receivers, and webhooks. */

/** A receiver that takes longer than this counts as unreachable. */
const sendMillisecondsMax = 10_000;
/** The number at the begin of each message: facility 13 (log audit), severity 6 (informational), as
 *  in RFC 5424, 6.2.1. */
const priority = 13 * 8 + 6;
/** Longer messages are cut. RFC 5426, 3.2: receivers should accept 2048 bytes; most accept a whole
 *  datagram. */
const datagramBytesMax = 8192;
const syslogPorts: Readonly<Record<string, number>> = { "udp:": 514, "tcp:": 601, "tls:": 6514 };

/** A syslog receiver: `udp://host:514`, `tcp://host:601` or `tls://host:6514`. */
export function syslogTarget(address: string, clock: Clock): AuditTarget {
  const { protocol, hostname: name, port } = new URL(address);
  const host = name.replace(/^\[|\]$/g, "");
  const at = { host, port: port === "" ? (syslogPorts[protocol] ?? 0) : Number(port) };
  const format = (line: string): string => syslogMessage(line, formatIso(clock.wall()));
  return protocol === "udp:" ? datagrams(at, format) : new SyslogStream(at, protocol, format);
}

interface Receiver {
  readonly host: string;
  readonly port: number;
}

/** Formats a message by RFC 5424: the line of JSON is its text. `time` has seven decimals, of which
 *  the format permits six. */
function syslogMessage(line: string, time: string): string {
  const stamp = time.replace(/(\.\d{6})\d+Z$/, "$1Z");
  return `<${priority}>1 ${stamp} ${hostname()} etagere ${process.pid} audit - ${line}`;
}

/** One datagram per line. It is not known whether it arrived; only a missing receiver on this
 *  machine is an error. */
function datagrams(at: Receiver, format: (line: string) => string): AuditTarget {
  const socket = createSocket(at.host.includes(":") ? "udp6" : "udp4");
  // The next `send` reports the error. Without a listener it would end the process.
  socket.on("error", () => {});
  socket.unref();
  const sendOne = (line: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(format(line)).subarray(0, datagramBytesMax);
      socket.send(bytes, at.port, at.host, (error) => (error ? reject(error) : resolve()));
    });
  return {
    name: "syslog",
    async send(lines) {
      for (const line of lines) await sendOne(line);
    },
    close: () => socket.close(),
  };
}

/** Messages over TCP or TLS, each with its length before it (RFC 6587, 3.4.1; RFC 5425, 4.3). What
 *  the system had taken when a connection broke may be lost: the protocol has no confirmation. */
class SyslogStream implements AuditTarget {
  readonly name = "syslog";
  readonly #at: Receiver;
  readonly #isSecure: boolean;
  readonly #format: (line: string) => string;
  #socket: Promise<Socket> | undefined;

  constructor(at: Receiver, protocol: string, format: (line: string) => string) {
    this.#at = at;
    this.#isSecure = protocol === "tls:";
    this.#format = format;
  }

  async send(lines: readonly string[]): Promise<void> {
    const text = lines.map((line) => frame(this.#format(line))).join("");
    const socket = await (this.#socket ??= this.#connect());
    await new Promise<void>((resolve, reject) => {
      const onClose = (): void => reject(new Error("the connection was closed"));
      socket.once("close", onClose);
      socket.write(text, (error) => {
        socket.off("close", onClose);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  close(): void {
    void this.#socket?.then(
      (socket) => socket.end(),
      () => {},
    );
  }

  #connect(): Promise<Socket> {
    const { host, port } = this.#at;
    const connecting = new Promise<Socket>((resolve, reject) => {
      const options = { host, port, timeout: sendMillisecondsMax };
      const socket = this.#isSecure
        ? connectTls({ ...options, ...(!isIP(host) && { servername: host }) }, () =>
            resolve(socket),
          )
        : connect(options, () => resolve(socket));
      socket.on("timeout", () => {
        if (socket.connecting || socket.writableLength > 0) {
          socket.destroy(new Error("the receiver timed out"));
        }
      });
      socket.on("error", reject);
      socket.once("close", () => (this.#socket = undefined));
      // Receivers send nothing; without reading, the end of the connection would not be noticed.
      socket.resume();
      socket.unref();
    });
    connecting.catch(() => (this.#socket = undefined));
    return connecting;
  }
}

function frame(message: string): string {
  return `${Buffer.byteLength(message)} ${message}`;
}

/** Posts lines of JSON to a URL. A status from 200 to 299 confirms them. */
export function webhookTarget(address: string): AuditTarget {
  const url = new URL(address);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return {
    name: "webhook",
    send: (lines) =>
      new Promise((resolve, reject) => {
        const body = Buffer.from(`${lines.join("\n")}\n`);
        const headers = { "Content-Type": "application/x-ndjson", "Content-Length": body.length };
        const options = { method: "POST", headers, timeout: sendMillisecondsMax };
        const sent = send(url, options, (response) => {
          const { statusCode = 0 } = response;
          response.resume();
          if (statusCode >= 200 && statusCode < 300) resolve();
          else reject(new Error(`the webhook answered ${statusCode}`));
        });
        sent.on("timeout", () => sent.destroy(new Error("the webhook timed out")));
        sent.on("error", reject);
        sent.end(body);
      }),
    close: () => {},
  };
}
