import type { Handle } from "../../smb-wire/wire-client.ts";
import {
  Access,
  createBody,
  notifyBody,
  renameInfo,
  setInfoBody,
} from "../../smb-wire/wire-messages.ts";
import { SmbConnection, type SmbAnswer } from "../../verify/smb-connection.ts";
import { headerOf, type Sent } from "../../verify/wire.ts";
import { insist, isFine, shareSetUp, type Setting, type Workload } from "../../verify/workload.ts";
import { untilDone } from "./last-step.ts";
import {
  checkDirectories,
  type DirectoryInput,
  type DirectoryOutput,
  type RemovalStep,
} from "./smb-directories-check.ts";

const name = "smb directories";
const share = "simulate-directories";
const paths = ["a", "b", "a/x", "a/y", "b/x", "b/y", "a/x/z"];
const keysEach = 2;
/** Keys are used so long that slow clients also make something below a directory. */
const epochsPerKey = 4;
const command = { changeNotify: 15, setInfo: 17 } as const;
const renameClass = 10;
const disposition = { open: 1, create: 2 } as const;
const directoryOption = 1;
const fileOption = 0x40;
/** Names of files and directories. */
const nameFilter = 3;
const lastKeysMax = 3;
const lastPauseSeconds = 5;
const newName = "noticed";

/** SMB and REST clients that create, rename, delete and list directories; other SMB clients wait
 *  for notifications of the changes. */
export const smbDirectories: Workload = {
  name,
  service: "file",
  check: checkDirectories,
  setUp: shareSetUp(share),
  client(setting) {
    const client = new DirectoryClient(setting);
    return () => client.step();
  },
  async finish(setting, keys) {
    for (const key of keys) {
      for (const path of ["", "a", "b", "a/x"])
        await perform(setting, key, { action: "list", path });
    }
    for (const key of keys.slice(-lastKeysMax)) {
      await untilDone(setting, () => new DirectoryClient(setting).stepLast(key));
    }
  },
};

class DirectoryClient {
  readonly #setting: Setting;
  #connection: SmbConnection | undefined;
  /** Keys whose top directory exists. */
  readonly #made = new Set<string>();

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async step(): Promise<void> {
    const { random, epoch } = this.#setting;
    const key = `t${Math.floor(epoch() / epochsPerKey)}-${random.below(keysEach)}`;
    await this.#makeTop(key);
    const input = this.#nextInput();
    if (input.action === "list" || random.chance(0.4)) return perform(this.#setting, key, input);
    const connection = await this.#connected();
    if (random.chance(0.2)) await this.#watch(connection, `${key}\\a`);
    if (input.action === "remove") return this.#remove(connection, key, input.path);
    const run = (): Promise<DirectoryOutput> => overSmb(connection, key, input);
    await this.#setting.recorder.record({ workload: name, key, input }, run);
  }

  /** When everything works: a client that watches a directory is notified of a new entry. */
  async stepLast(key: string): Promise<void> {
    const { wire, pause, recorder } = this.#setting;
    const connection = await this.#connected();
    const notified = await this.#watch(connection, key);
    if (notified === undefined) return;
    const run = async (): Promise<DirectoryOutput> => {
      const { status } = await wire.send(makeDirectory(`${key}/${newName}`));
      await pause?.(lastPauseSeconds);
      return { status: isFine(status) && !notified().includes(newName) ? 410 : status };
    };
    await recorder.record({ workload: name, key, input: { action: "notice" } }, run);
    connection.end();
  }

  /** Without a response to one of its steps the server closes the handle with the connection. */
  async #remove(connection: SmbConnection, key: string, path: string): Promise<void> {
    const { recorder } = this.#setting;
    const step = (
      action: RemovalStep["action"],
      run: () => Promise<DirectoryOutput>,
    ): Promise<DirectoryOutput | undefined> =>
      recorder.record({ workload: name, key, input: { action, path } }, run);
    const opened: { handle?: Handle } = {};
    const marked = await step("mark", async () => {
      const answer = await openToChange(connection, smbPath(key, path));
      if (answer.handle === undefined) return answer;
      opened.handle = answer.handle;
      const mark = await connection.mark(answer.handle, true);
      return isFine(mark.status) ? mark : withoutHandle(connection, { ...mark, ...opened });
    });
    const { handle } = opened;
    if (handle === undefined || (marked !== undefined && !isFine(marked.status))) return;
    await step("close", () => connection.close(handle));
  }

  #nextInput(): DirectoryInput {
    const { random } = this.#setting;
    const path = random.pick(paths);
    const die = random.below(100);
    if (die < 35) return { action: "mkdir", path };
    if (die < 45) return { action: "create", path };
    if (die < 65) return { action: "remove", path };
    const to = random.pick(paths.filter((each) => each !== path));
    if (die < 80) return { action: "rename", path, to };
    return { action: "list", path };
  }

  async #makeTop(key: string): Promise<void> {
    if (this.#made.has(key)) return;
    await insist(() => this.#setting.wire.send(makeDirectory(key)), 201, 409);
    this.#made.add(key);
  }

  async #connected(): Promise<SmbConnection> {
    if (this.#connection?.isLost === false) return this.#connection;
    const { smb } = this.#setting;
    if (smb === undefined) throw new Error("this workload runs in simulations only");
    this.#connection = await SmbConnection.open(smb, share);
    return this.#connection;
  }

  /** Waits for changes of a directory until the connection ends; returns the notification so
   *  far. */
  async #watch(connection: SmbConnection, path: string): Promise<(() => string) | undefined> {
    const options = {
      access: Access.read,
      disposition: disposition.open,
      options: directoryOption,
    };
    const { handle } = await connection.create(createBody(path, options));
    if (handle === undefined) return undefined;
    const { client } = connection;
    let notification = "";
    const before = client.interims.length;
    const { answer } = client.begin(command.changeNotify, notifyBody(handle, nameFilter));
    const hear = async (): Promise<void> => {
      notification = (await answer).message.toString("utf16le");
      if (!connection.isLost) await connection.close(handle);
    };
    hear().catch(() => undefined);
    await connection.inTime(Promise.race([client.interim(before + 1), answer, client.closed]));
    return () => notification;
  }
}

/** The change is made by the last of its requests before the close. */
async function overSmb(
  connection: SmbConnection,
  key: string,
  input: Exclude<DirectoryInput, { action: "remove" | "list" }>,
): Promise<DirectoryOutput> {
  const path = smbPath(key, input.path);
  if (input.action !== "rename") {
    const options = input.action === "mkdir" ? directoryOption : fileOption;
    const body = createBody(path, { disposition: disposition.create, options });
    return withoutHandle(connection, await connection.create(body));
  }
  const opened = await openToChange(connection, path);
  const { handle } = opened;
  if (handle === undefined) return opened;
  const target = setInfoBody(handle, renameClass, renameInfo(smbPath(key, input.to)));
  const renamed = await connection.request(command.setInfo, target);
  return withoutHandle(connection, { ...renamed, handle });
}

function openToChange(connection: SmbConnection, path: string): Promise<SmbAnswer> {
  const options = { access: Access.delete, share: 0, disposition: disposition.open };
  return connection.create(createBody(path, options));
}

async function withoutHandle(
  connection: SmbConnection,
  { status, code, handle }: SmbAnswer & { readonly handle?: Handle },
): Promise<DirectoryOutput> {
  if (handle !== undefined) await connection.close(handle);
  return code === undefined ? { status } : { status, code };
}

function smbPath(key: string, path: string): string {
  return `${key}/${path}`.replaceAll("/", "\\");
}

function makeDirectory(path: string): Sent {
  return { service: "file", method: "PUT", path: `/${share}/${path}?restype=directory` };
}

/** Over REST. */
async function perform(setting: Setting, key: string, input: DirectoryInput): Promise<void> {
  const run = async (): Promise<DirectoryOutput> => {
    const answer = await setting.wire.send(requestOf(key, input));
    const { status, text } = answer;
    if (!isFine(status)) return { status, code: headerOf(answer, "x-ms-error-code") };
    if (input.action !== "list") return { status };
    const names = [...text.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, each = ""]) => each);
    return { status, names: names.toSorted() };
  };
  await setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(key: string, input: DirectoryInput): Sent {
  const path = `/${share}/${key}${input.path === "" ? "" : "/"}${input.path}`;
  const to = { service: "file", path: `${path}?restype=directory` } as const;
  switch (input.action) {
    case "mkdir":
      return { ...to, method: "PUT" };
    case "create": {
      const headers = { "x-ms-type": "file", "x-ms-content-length": "0" };
      return { service: "file", method: "PUT", path, headers };
    }
    case "remove":
      return { ...to, method: "DELETE" };
    case "rename": {
      const target = `/${share}/${key}/${input.to}?restype=directory&comp=rename`;
      return { service: "file", method: "PUT", path: target, renameSource: path };
    }
    default:
      return { ...to, method: "GET", path: `${to.path}&comp=list` };
  }
}
