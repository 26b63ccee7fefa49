import { WireClient, type Answered, type Handle } from "../smb-wire/wire-client.ts";
import { grantedState } from "../smb-wire/lease-messages.ts";
import {
  Access,
  closeBody,
  createBody,
  handleOf,
  lockBody,
  locksBody,
  oplockOf,
  readBody,
  setInfoBody,
  shareAll,
  writeBody,
} from "../smb-wire/wire-messages.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { NeverSent } from "./recorder.ts";

const command = { create: 5, close: 6, read: 8, write: 9, lock: 10, echo: 13, setInfo: 17 };
const dispositionClass = 13;
const openExisting = 1;
const lockAtOnce = 0x12;
const unlockFlag = 4;
const answerMillisecondsMax = 10_000;

/** A range of bytes. */
export interface Span {
  readonly at: number;
  readonly length: number;
}

/** Statuses with a known meaning; any other leaves the outcome unknown. */
const refusals: ReadonlyMap<number, { readonly status: number; readonly code: string }> = new Map([
  [0xc000_0022, { status: 409, code: "AccessDenied" }],
  [0xc000_0034, { status: 404, code: "ResourceNotFound" }],
  [0xc000_0035, { status: 409, code: "ResourceAlreadyExists" }],
  [0xc000_003a, { status: 404, code: "ParentNotFound" }],
  [0xc000_0043, { status: 409, code: "SharingViolation" }],
  [0xc000_0054, { status: 409, code: "FileLockConflict" }],
  [0xc000_0055, { status: 409, code: "FileLockConflict" }],
  [0xc000_0056, { status: 409, code: "DeletePending" }],
  [0xc000_007e, { status: 409, code: "RangeNotLocked" }],
  [0xc000_0101, { status: 409, code: "DirectoryNotEmpty" }],
  [0xc000_0128, { status: 409, code: "FileClosed" }],
]);

export interface SmbAnswer {
  readonly status: number;
  readonly code?: string;
  readonly handle?: Handle;
  /** Of an open. */
  readonly oplock?: number;
  /** The state of the SMB lease that an open was granted, 0 for none. */
  readonly lease?: number;
}

/** How SMB clients reach a server. */
export interface SmbTransport {
  /** A connection without a session. */
  connect(): Promise<WireClient>;
  /** Rejects if it takes too long. */
  inTime<T>(work: Promise<T>): Promise<T>;
}

/** To a server process of this machine. */
export function socketTransport(smbUrl: string): SmbTransport {
  return { connect: () => WireClient.open(smbUrl), inTime };
}

/** A lost connection loses its handles, except durable ones. */
export class SmbConnection {
  readonly client: WireClient;
  readonly #inTime: SmbTransport["inTime"];
  isLost = false;

  private constructor(client: WireClient, transport: SmbTransport) {
    this.client = client;
    this.#inTime = (work) => transport.inTime(work);
    void this.#notice(client);
  }

  /** Rejects with NeverSent: without a connection nothing was requested. The leases of a client
   *  belong to its GUID. */
  static async open(
    transport: SmbTransport,
    share: string,
    clientGuid?: Buffer,
  ): Promise<SmbConnection> {
    const ready = async (): Promise<WireClient> => {
      const client = await transport.connect();
      if (clientGuid !== undefined) client.clientGuid = clientGuid;
      return client.enter(share);
    };
    try {
      return new SmbConnection(await transport.inTime(ready()), transport);
    } catch {
      throw new NeverSent();
    }
  }

  /** Sends a CREATE request. */
  create(body: Buffer): Promise<SmbAnswer> {
    return this.#ask(command.create, body);
  }

  openAlone(path: string): Promise<SmbAnswer> {
    return this.#open(path, 0);
  }

  openShared(path: string): Promise<SmbAnswer> {
    return this.#open(path, shareAll);
  }

  close(handle: Handle): Promise<SmbAnswer> {
    return this.#ask(command.close, closeBody(handle));
  }

  lock(handle: Handle, length: number): Promise<SmbAnswer> {
    return this.#ask(command.lock, lockBody(handle, { at: 0, length, flags: lockAtOnce }));
  }

  /** Locks several ranges, all of them or none, or unlocks them. */
  lockSpans(handle: Handle, spans: readonly Span[], isUnlock = false): Promise<SmbAnswer> {
    const flags = isUnlock ? unlockFlag : lockAtOnce;
    return this.#ask(
      command.lock,
      locksBody(
        handle,
        spans.map((span) => ({ ...span, flags })),
      ),
    );
  }

  write(handle: Handle, text: string): Promise<SmbAnswer> {
    return this.#ask(command.write, writeBody(handle, text));
  }

  /** The bytes from the start of a file; without a value if it is refused. */
  async read(handle: Handle, length: number): Promise<SmbAnswer & { readonly value?: string }> {
    let text = "";
    const answer = await this.#ask(command.read, readBody(handle, length), ({ message }) => {
      text = message.toString("utf8", 80, 80 + message.readUInt32LE(68));
    });
    return answer.status === 200 ? { ...answer, value: text } : answer;
  }

  /** Shows that the connection and the server work. */
  echo(): Promise<SmbAnswer> {
    return this.#ask(command.echo, new Writer().u16(4).u16(0).finish());
  }

  /** Sends a request that has no method of its own. */
  request(kind: number, body: Buffer): Promise<SmbAnswer> {
    return this.#ask(kind, body);
  }

  mark(handle: Handle, isPending: boolean): Promise<SmbAnswer> {
    const data = Buffer.from([isPending ? 1 : 0]);
    return this.#ask(command.setInfo, setInfoBody(handle, dispositionClass, data));
  }

  /** Ends the connection if the work fails or takes too long. */
  async inTime<T>(work: Promise<T>): Promise<T> {
    try {
      return await this.#inTime(work);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  async #notice(client: WireClient): Promise<void> {
    await client.closed;
    this.isLost = true;
  }

  end(): void {
    this.isLost = true;
    this.client.end();
  }

  async #open(path: string, share: number): Promise<SmbAnswer> {
    const body = createBody(path, { access: Access.all, share, disposition: openExisting });
    return this.#ask(command.create, body);
  }

  async #ask(
    kind: number,
    body: Buffer,
    take: (answer: Answered) => void = () => {},
  ): Promise<SmbAnswer> {
    const lost = this.client.closed.then((): Answered => {
      throw new Error("the connection was lost");
    });
    const answer = await this.inTime(Promise.race([this.client.ask(kind, body), lost]));
    if (answer.status === 0) {
      take(answer);
      if (kind !== command.create) return { status: 200 };
      const [oplock, lease] = [oplockOf(answer), grantedState(answer)];
      return { status: 200, handle: handleOf(answer), oplock, lease };
    }
    const refusal = refusals.get(answer.status);
    if (refusal !== undefined) return refusal;
    this.end();
    throw new Error(`SMB status ${answer.status.toString(16)}`);
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), answerMillisecondsMax);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
