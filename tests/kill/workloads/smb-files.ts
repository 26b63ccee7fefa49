import { WireClient, type Answered, type Handle } from "../../smb-wire/wire-client.ts";
import {
  basicInfo,
  closeBody,
  createBody,
  handleOf,
  readBody,
  renameInfo,
  setInfoBody,
  writeBody,
  type OpenOptions,
} from "../../smb-wire/wire-messages.ts";
import { must, textOf, type Clients, type KillWorkload, type State } from "../kill-workload.ts";

const share = "kills-smb";
const fileBytes = 40_000;
const places = ["here", "there"] as const;
type Place = (typeof places)[number];
const hidden = 0x2;
const archive = 0x20;
const command = { create: 5, close: 6, read: 8, write: 9, setInfo: 17 } as const;
const infoClass = { basic: 4, rename: 10, disposition: 13 } as const;
const disposition = { open: 1, create: 2 } as const;
const nameNotFound = 0xc000_0034;

/** The state of a file: path, last version written, and attributes. */
interface FileState {
  readonly place: Place;
  readonly version: string;
  readonly attributes: number;
}

function stateOf({ place, version, attributes }: FileState): State {
  return `${place}:${version}:${attributes}`;
}

function fileOf(state: State): FileState | undefined {
  const [place, version = "", attributes] = state?.split(":") ?? [];
  return place === undefined
    ? undefined
    : { place: place as Place, version, attributes: Number(attributes) };
}

/**
 * Files that are created, written, marked, renamed and deleted over SMB with exclusive opens: the
 * opens of a killed server must not block the next.
 */
export const smbFiles: KillWorkload = {
  name: "smb",
  async setUp({ file }) {
    await must(file, { method: "PUT", path: `/${share}?restype=share` }, 201);
    for (const place of places) {
      await must(file, { method: "PUT", path: `/${share}/${place}?restype=directory` }, 201);
    }
  },
  next(key, state, turn) {
    const file = fileOf(state);
    const [next, work] = file === undefined ? creating(key) : changing(key, file, turn);
    return {
      state: next && stateOf(next),
      writes: 1,
      async send({ smbUrl, file: rest }: Clients) {
        await work(smbUrl);
        // SMB requests have no id that a trace shows; this response has one.
        await must(rest, { method: "GET", path: `/${share}?restype=share` }, 200);
      },
    };
  },
  async look({ smbUrl }, key) {
    const here = await look(smbUrl, `here\\${key}`);
    const there = await look(smbUrl, `there\\${key}`);
    return (state) => {
      const file = fileOf(state);
      const wanted = file && `${file.attributes}:${bodyOf(key, file.version)}`;
      return (
        here === (file?.place === "here" ? wanted : undefined) &&
        there === (file?.place === "there" ? wanted : undefined)
      );
    };
  },
};

type Change = readonly [FileState | undefined, (smbUrl: string) => Promise<void>];

function creating(key: string): Change {
  const next: FileState = { place: "here", version: "", attributes: archive };
  const options = { disposition: disposition.create };
  return [next, (smbUrl) => withOpen(smbUrl, `here\\${key}`, options, async () => {})];
}

function changing(key: string, file: FileState, turn: number): Change {
  const path = `${file.place}\\${key}`;
  const set = (smbUrl: string, kind: number, data: Buffer) =>
    withOpen(smbUrl, path, {}, async (handle) => {
      await ask(smbUrl, command.setInfo, setInfoBody(handle, kind, data));
    });
  if (turn % 13 === 0) {
    return [undefined, (smbUrl) => set(smbUrl, infoClass.disposition, Buffer.from([1]))];
  }
  if (turn % 5 === 0) {
    const place = file.place === "here" ? "there" : "here";
    const data = renameInfo(`${place}\\${key}`);
    return [{ ...file, place }, (smbUrl) => set(smbUrl, infoClass.rename, data)];
  }
  if (turn % 3 === 0) {
    const attributes = file.attributes ^ hidden;
    const data = basicInfo(attributes);
    return [{ ...file, attributes }, (smbUrl) => set(smbUrl, infoClass.basic, data)];
  }
  const version = String(turn);
  const write = (smbUrl: string) =>
    withOpen(smbUrl, path, {}, async (handle) => {
      await ask(smbUrl, command.write, writeBody(handle, bodyOf(key, version)));
    });
  return [{ ...file, version }, write];
}

async function look(smbUrl: string, path: string): Promise<string | undefined> {
  const body = createBody(path, { share: 0, disposition: disposition.open });
  const opened = await answerTo(smbUrl, command.create, body);
  if (opened.status === nameNotFound) return undefined;
  check("look", opened);
  const attributes = opened.message.readUInt32LE(120);
  const length = Number(opened.message.readBigUInt64LE(112));
  const handle = handleOf(opened);
  const read = length === 0 ? "" : await readAll(smbUrl, handle, length);
  await ask(smbUrl, command.close, closeBody(handle));
  return `${attributes}:${read}`;
}

async function readAll(smbUrl: string, handle: Handle, length: number): Promise<string> {
  const { message } = await ask(smbUrl, command.read, readBody(handle, length));
  return message.subarray(80, 80 + message.readUInt32LE(68)).toString();
}

async function withOpen(
  smbUrl: string,
  path: string,
  options: OpenOptions,
  work: (handle: Handle) => Promise<void>,
): Promise<void> {
  const body = createBody(path, { share: 0, disposition: disposition.open, ...options });
  const handle = handleOf(await ask(smbUrl, command.create, body));
  await work(handle);
  await ask(smbUrl, command.close, closeBody(handle));
}

async function ask(smbUrl: string, kind: number, body: Buffer): Promise<Answered> {
  const answer = await answerTo(smbUrl, kind, body);
  check(`SMB ${kind}`, answer);
  return answer;
}

async function answerTo(smbUrl: string, kind: number, body: Buffer): Promise<Answered> {
  const client = await connected(smbUrl);
  const lost = client.closed.then((): Answered => {
    throw new Error("the connection was lost");
  });
  return Promise.race([client.ask(kind, body), lost]);
}

function check(what: string, { status }: Answered): void {
  // In the form of a REST error, which distinguishes errors from lost connections.
  if (status !== 0) throw new Error(`${what}: 500 ${status.toString(16)}`);
}

const connections = new Map<string, Promise<WireClient>>();

function connected(smbUrl: string): Promise<WireClient> {
  const known = connections.get(smbUrl);
  if (known !== undefined) return known;
  const client = WireClient.ready(smbUrl, share);
  connections.set(smbUrl, client);
  // The next server may have another address.
  const forget = (): void => void connections.delete(smbUrl);
  client.then(({ closed }) => closed.then(forget), forget);
  return client;
}

function bodyOf(key: string, version: string): string {
  return version === "" ? "" : textOf(key, version, fileBytes);
}
