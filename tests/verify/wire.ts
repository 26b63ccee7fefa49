import { createHmac } from "node:crypto";
import { Agent, request as open, type OutgoingHttpHeaders } from "node:http";
import { NeverSent } from "./recorder.ts";

/** A client without libraries of the project under test. */
export const account = "devstoreaccount1";
/** An account with a hierarchical namespace. */
export const treeAccount = "treeaccount1";
export const key =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/** An account with a change feed and a subscription. */
export const eventAccount = "eventaccount1";

/** The first two, as a configuration file has them. */
export const accounts = {
  [account]: {},
  [treeAccount]: { keys: [key], hierarchicalNamespace: true },
};

/** All; events are sent to the webhook. */
export function accountsWith(webhook: string) {
  const hook = { destination: { webhook }, eventTypes: ["All"] };
  return {
    ...accounts,
    [eventAccount]: { keys: [key], changeFeed: true, subscriptions: { hook } },
  };
}

export type ServiceName = "blob" | "queue" | "table" | "file";
/** Where each service of one server process listens, e.g. `http://127.0.0.1:10000`. */
export type Endpoints = Readonly<Record<ServiceName | "smb", string>>;

export interface Sent {
  readonly service: ServiceName;
  /** The development account if it is absent. */
  readonly account?: string;
  readonly method: string;
  /** Below the account, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The path of the rename source, on the same server. */
  readonly renameSource?: string;
  /** Replaces the signature for everything in the account; empty: none, the headers have one. */
  readonly sas?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  readonly bytes: Buffer;
}

const answerMillisecondsMax = 10_000;
export const apiVersion = "2023-11-03";

export class Wire {
  readonly #endpoints: () => Endpoints;
  readonly #agent = new Agent({ keepAlive: true });

  /** Called for each request: a client may switch servers. */
  constructor(endpoints: () => Endpoints) {
    this.#endpoints = endpoints;
  }

  /** Rejects without a response, with NeverSent if there was no effect. */
  send(request: Sent): Promise<Answer> {
    const base = new URL(this.#endpoints()[request.service]);
    const { path, headers, body } = framed(request, base.origin);
    const options = {
      host: base.hostname,
      port: base.port,
      method: request.method,
      path,
      headers,
      agent: this.#agent,
      timeout: answerMillisecondsMax,
    };
    return new Promise((resolve, reject) => {
      const sent = open(options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          const { statusCode: status = 0, headers: given } = response;
          resolve({ status, headers: given, text: bytes.toString(), bytes });
        });
      });
      sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
      sent.on("error", (error: NodeJS.ErrnoException) =>
        reject(error.code === "ECONNREFUSED" ? new NeverSent() : error),
      );
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The path, headers and body of a request to a server with this base address. */
export function framed(request: Sent, base: string) {
  const { service, path, headers = {}, body = "", renameSource } = request;
  const owner = request.account ?? account;
  const sas = request.sas ?? sasOf(owner);
  const sign = path.includes("?") ? "&" : "?";
  const tableHeaders = service === "table" ? jsonHeaders : {};
  const all: OutgoingHttpHeaders = {
    "x-ms-version": apiVersion,
    ...tableHeaders,
    "content-length": Buffer.byteLength(body),
    ...headers,
    ...(renameSource === undefined
      ? {}
      : { "x-ms-file-rename-source": `${base}/${account}${renameSource}?${sasOf(account)}` }),
  };
  const signature = sas === "" ? "" : `${sign}${sas}`;
  return { path: `/${owner}${path}${signature}`, headers: all, body };
}

const jsonHeaders = {
  "content-type": "application/json",
  accept: "application/json;odata=minimalmetadata",
};

export function headerOf(answer: Answer, name: string): string {
  return String(answer.headers[name] ?? "");
}

function accountSas(name: string): string {
  const fields = { sp: "rwdlacuptf", ss: "bqtf", srt: "sco", se: "2099-01-01T00:00:00Z" };
  const version = "2019-12-12";
  const { sp, ss, srt, se } = fields;
  const text = [name, sp, ss, srt, "", se, "", "", version, ""].join("\n");
  const sig = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
  return String(new URLSearchParams({ sv: version, ...fields, sig }));
}

const knownSas = new Map<string, string>();

/** A SAS for everything in the account, which has the same key as the others. */
export function sasOf(name: string): string {
  const sas = knownSas.get(name) ?? accountSas(name);
  knownSas.set(name, sas);
  return sas;
}
