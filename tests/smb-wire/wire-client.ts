import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { deriveSessionKeys, signerOf, type Signer } from "../../src/smb/crypto/session-keys.ts";
import { Framer, framePrefix } from "../../src/smb/framing.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { authenticate, firstToken, sessionSetup } from "./wire-login.ts";

/** A minimal client of dialect 3.1.1 that can also send malformed requests. */

export interface Answered {
  readonly status: number;
  readonly command: number;
  readonly flags: number;
  readonly credits: number;
  readonly treeId: number;
  readonly asyncId: bigint;
  readonly sessionId: bigint;
  readonly message: Buffer;
}

export interface Handle {
  readonly persistent: bigint;
  readonly volatile: bigint;
}

const headerBytes = 64;
const pending = 0x103;
const dialect = 0x0311;
const noCipher = 0;
const signingCmac = 1;

export class WireClient {
  sessionId = 0n;
  treeId = 0;
  /** ClientGuid, the same on all connections of a client. */
  clientGuid: Buffer;
  /** Break notifications received so far. */
  readonly notices: Answered[] = [];
  /** Interim responses received so far. */
  readonly interims: Answered[] = [];
  readonly #socket: Duplex;
  readonly #randomBytes: (length: number) => Buffer;
  readonly #waiting = new Map<bigint, (answer: Answered) => void>();
  #noticeBell: () => void = () => {};
  #messageId = 0n;
  #signer: Signer | undefined;
  #hash = Buffer.alloc(64);
  readonly closed: Promise<void>;

  /** `random` gives what a client chooses, the same in each run of a simulation. */
  constructor(socket: Duplex, random: (length: number) => Buffer = randomBytes) {
    this.#socket = socket;
    this.#randomBytes = random;
    this.clientGuid = random(16);
    const framer = new Framer(
      () => 0xff_ffff,
      (frame) => this.#takeFrame(Buffer.from(frame)),
    );
    socket.on("data", (chunk: Buffer) => void framer.push(chunk));
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => void socket.on("close", () => resolve()));
  }

  static async open(smbUrl: string): Promise<WireClient> {
    const { hostname, port } = new URL(smbUrl);
    const socket = connect({ host: hostname, port: Number(port) });
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new WireClient(socket);
  }

  /** Negotiated, authenticated and connected to a share. */
  static async ready(smbUrl: string, share: string): Promise<WireClient> {
    const client = await WireClient.open(smbUrl);
    return client.enter(share);
  }

  /** Negotiates, authenticates and connects to a share. */
  async enter(share: string): Promise<WireClient> {
    const logIn = async (): Promise<WireClient> => {
      await this.negotiate();
      await this.logIn();
      await this.connectTo(share);
      return this;
    };
    // A server that is killed now answers nothing more.
    const lost = this.closed.then(() => {
      throw new Error("the connection was closed before the share was connected");
    });
    lost.catch(() => {});
    return Promise.race([logIn(), lost]);
  }

  end = (): void => void this.#socket.destroy();

  /** Leaves all further responses unread. */
  stopReading = () => void this.#socket.pause();

  sendRaw(bytes: Buffer): void {
    this.#socket.write(Buffer.concat([framePrefix(bytes.length), bytes]));
  }

  /** Sends the length prefix of a message that never follows. */
  announce = (bytes: number) => void this.#socket.write(framePrefix(bytes));

  /** Sends a request and waits for its final response. */
  async ask(command: number, body: Buffer, more: Partial<HeaderParts> = {}): Promise<Answered> {
    return this.begin(command, body, more).answer;
  }

  begin(command: number, body: Buffer, more: Partial<HeaderParts> = {}) {
    const { messageId, answer, send } = this.prepare(command, body, more);
    send();
    return { messageId, answer };
  }

  /** A complete message that can be sent later. */
  prepare(command: number, body: Buffer, more: Partial<HeaderParts> = {}) {
    const messageId = this.#messageId;
    const charge = Math.max(1, more.charge ?? 1);
    this.#messageId += BigInt(charge);
    const message = this.encode(command, body, { messageId, ...more });
    const answer = new Promise<Answered>((resolve) => this.#waiting.set(messageId, resolve));
    if (command <= 1) this.#fold(message);
    return { messageId, answer, message, send: () => this.sendRaw(message) };
  }

  /** Sends CANCEL for a pending request. */
  cancel(asyncId: bigint, messageId: bigint): void {
    const message = this.encode(12, new Writer(4).u16(4).u16(0).finish(), { messageId, asyncId });
    this.sendRaw(message);
  }

  encode(command: number, body: Buffer, parts: Partial<HeaderParts>): Buffer {
    const message = Buffer.concat([Buffer.alloc(headerBytes), body]);
    message.writeUInt32LE(0x424d53fe, 0);
    message.writeUInt16LE(headerBytes, 4);
    message.writeUInt16LE(parts.charge ?? 1, 6);
    message.writeUInt16LE(parts.channelSequence ?? 0, 8);
    message.writeUInt16LE(command, 12);
    message.writeUInt16LE(parts.credits ?? 64, 14);
    const isAsync = parts.asyncId !== undefined;
    const signs = this.#signer !== undefined && parts.signs !== false;
    const flags = (parts.flags ?? 0) | (signs ? 8 : 0) | (isAsync ? 2 : 0);
    message.writeUInt32LE(flags, 16);
    message.writeUInt32LE(parts.next ?? 0, 20);
    message.writeBigUInt64LE(parts.messageId ?? 0n, 24);
    if (parts.asyncId !== undefined) message.writeBigUInt64LE(parts.asyncId, 32);
    else message.writeUInt32LE(parts.treeId ?? this.treeId, 36);
    message.writeBigUInt64LE(parts.sessionId ?? this.sessionId, 40);
    // The server's signer signs as the server; with CMAC both directions are equal.
    if (signs) this.#signer?.sign(message);
    return message;
  }

  /** Offers a cipher only to pass a server that requires one; nothing is encrypted. */
  async negotiate(offersCipher = false): Promise<Answered> {
    const salt = this.#randomBytes(32);
    const body = new Writer()
      .u16(36)
      .u16(1)
      .u16(1)
      .u16(0)
      .u32(0x7f)
      .bytes(this.clientGuid)
      .u32(headerBytes + 40)
      .u16(offersCipher ? 2 : 1)
      .u16(0)
      .u16(dialect)
      .u16(0);
    body.u16(1).u16(38).u32(0).u16(1).u16(32).u16(1).bytes(salt);
    if (offersCipher) body.align(8).u16(2).u16(4).u32(0).u16(1).u16(2);
    const answer = await this.ask(0, body.finish());
    this.#fold(answer.message);
    return answer;
  }

  async logIn(user = developmentAccountName, key = developmentAccountKey): Promise<Answered> {
    return this.#logIn(user, key, false);
  }

  /** Re-authentication does not change the session's keys. */
  async logInAgain(user: string): Promise<Answered> {
    const signer = this.#signer;
    const answer = await this.#logIn(user, developmentAccountKey, false);
    this.#signer = signer;
    return answer;
  }

  /** Binds a session of another client; the first requests are signed with the session's key. */
  async join(other: WireClient, key = developmentAccountKey): Promise<Answered> {
    this.sessionId = other.sessionId;
    this.treeId = other.treeId;
    this.#signer = other.#signer;
    return this.#logIn(developmentAccountName, key, true);
  }

  /** The first SESSION_SETUP, which creates a session even if it is never completed. */
  beginLogin(): Promise<Answered> {
    return this.ask(1, sessionSetup(firstToken()), { sessionId: 0n });
  }

  async #logIn(user: string, key: string, binds: boolean): Promise<Answered> {
    const challenged = await this.ask(1, sessionSetup(firstToken(), binds));
    if (challenged.status !== 0xc000_0016) return challenged;
    this.sessionId = challenged.sessionId;
    this.#fold(challenged.message);
    const challenge = challenged.message.subarray(72);
    const { message, sessionKey } = authenticate({
      user,
      key,
      challenge,
      clientChallenge: this.#randomBytes(8),
    });
    const answer = await this.ask(1, sessionSetup(message, binds));
    if (answer.status !== 0) return answer;
    const keys = deriveSessionKeys({
      dialect,
      cipher: noCipher,
      sessionKey,
      preauthHash: this.#hash,
    });
    this.#signer = signerOf(keys.signing, dialect, signingCmac);
    return answer;
  }

  async connectTo(share: string): Promise<Answered> {
    const path = Buffer.from(`\\\\server\\${share}`, "utf16le");
    const body = new Writer()
      .u16(9)
      .u16(0)
      .u16(headerBytes + 8)
      .u16(path.length)
      .bytes(path);
    const answer = await this.ask(3, body.finish());
    this.treeId = answer.treeId;
    return answer;
  }

  /** Resolves when this many notifications have arrived in total. */
  async noticed(count: number): Promise<readonly Answered[]> {
    while (this.notices.length < count) {
      await new Promise<void>((resolve) => {
        this.#noticeBell = resolve;
      });
    }
    return this.notices;
  }

  #fold(message: Buffer): void {
    this.#hash = createHash("sha512").update(this.#hash).update(message).digest();
  }

  #takeFrame(frame: Buffer): void {
    const next = frame.readUInt32LE(20);
    this.#take(next === 0 ? frame : frame.subarray(0, next));
    if (next !== 0) this.#takeFrame(frame.subarray(next));
  }

  #take(message: Buffer): void {
    const messageId = message.readBigUInt64LE(24);
    const answer: Answered = {
      status: message.readUInt32LE(8),
      command: message.readUInt16LE(12),
      credits: message.readUInt16LE(14),
      flags: message.readUInt32LE(16),
      asyncId: message.readBigUInt64LE(32),
      treeId: message.readUInt32LE(36),
      sessionId: message.readBigUInt64LE(40),
      message,
    };
    if (messageId === 0xffff_ffff_ffff_ffffn) {
      this.notices.push(answer);
      this.#noticeBell();
      return;
    }
    if (answer.status === pending) {
      this.interims.push(answer);
      this.#noticeBell();
      return;
    }
    this.#waiting.get(messageId)?.(answer);
    this.#waiting.delete(messageId);
  }

  /** Resolves with the interim response of a request. */
  async interim(count: number): Promise<Answered> {
    while (this.interims.length < count) {
      await new Promise<void>((resolve) => {
        this.#noticeBell = resolve;
      });
    }
    return this.interims[count - 1]!;
  }
}

export interface HeaderParts {
  readonly messageId: bigint;
  readonly asyncId: bigint;
  readonly treeId: number;
  readonly sessionId: bigint;
  readonly flags: number;
  /** Offset of the next response in the frame. */
  readonly next: number;
  readonly charge: number;
  readonly channelSequence: number;
  readonly credits: number;
  readonly signs: boolean;
}
