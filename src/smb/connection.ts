import type { Socket } from "node:net";
import { CompoundRequest } from "./compound-request.ts";
import type { Channel } from "./channel.ts";
import { splitCompound, type CompoundElement } from "./compound-elements.ts";
import { answerOldNegotiate } from "./operations/negotiate.ts";
import { bytesPerCredit } from "./credit-charge.ts";
import type { Signer } from "./crypto/signing.ts";
import type { RequestLifetime } from "./request.ts";
import {
  frameBytesMax,
  unauthenticatedFrameBytesMax,
  inFlightBytesMax,
  keepAliveMilliseconds,
  loginMillisecondsMax,
  sessionsMax,
  unsentBytesMax,
  pendingBytesMax,
  pendingRequestsMax,
} from "./limits.ts";
import { RequestQueue } from "./request-queue.ts";
import { SequenceWindow } from "./sequence-window.ts";
import type { SmbServerState } from "./server.ts";
import type { Session } from "./session.ts";
import { removeChannel } from "./session-end.ts";
import { Framer, framePrefix } from "./transport/framing.ts";
import { encryptedMagic, smb1Magic, smb2Magic } from "./wire/header.ts";
import { Command, Dialect, HeaderFlag } from "./wire/protocol.ts";
import { transformHeaderBytes } from "./crypto/encryption.ts";

export interface Negotiated {
  readonly dialect: number;
  readonly cipher: number;
  readonly signingAlgorithm: number;
  readonly clientGuid: Buffer;
  readonly clientCapabilities: number;
  readonly clientSecurityMode: number;
  readonly capabilities: number;
  readonly clientDialects: readonly number[];
}

/** One client's connection: its dialect, the sessions it carries, and what is under way. */
export class Connection {
  readonly server: SmbServerState;
  readonly peer: string;
  /** Where the client reached this server. */
  readonly localAddress: string;
  readonly window = new SequenceWindow();
  /** By the id of their session. */
  readonly channels = new Map<bigint, Channel>();
  negotiated: Negotiated | undefined;
  preauthHash: Buffer = Buffer.alloc(64);
  /** An old client was told to ask again in the form of SMB 2. */
  hasSmb1Negotiate = false;
  /** Somebody has logged in on it. */
  hasAuthenticated = false;
  readonly #socket: Socket;
  readonly #framer: Framer;
  readonly #stopWaiting: () => void;
  readonly #queue = new RequestQueue();
  readonly #lives = new Map<bigint, RequestLifetime>();
  readonly #asyncLives = new Map<bigint, RequestLifetime>();
  readonly #pastSigners = new Map<bigint, Signer>();
  #inFlightBytes = 0;
  #waitingBytes = 0;
  #lastAsyncId = 0n;
  #isOpen = true;

  constructor(server: SmbServerState, socket: Socket) {
    this.server = server;
    this.#socket = socket;
    this.peer = `${socket.remoteAddress ?? ""}:${socket.remotePort ?? 0}`;
    this.localAddress = socket.localAddress ?? "";
    const bytesMax = (): number => (this.hasAuthenticated ? frameBytesMax : unauthenticatedFrameBytesMax);
    this.#framer = new Framer(bytesMax, (frame) => this.#receive(frame), server.world.memory);
    socket.setNoDelay(true);
    // What a client holds whose machine is gone must not be held for ever.
    socket.setKeepAlive(true, keepAliveMilliseconds);
    socket.on("data", (chunk: Buffer) => {
      if (this.#isOpen && !this.#framer.push(chunk)) this.end();
    });
    socket.on("drain", () => this.#readOrRest());
    socket.on("error", () => this.end());
    socket.on("end", () => this.end());
    socket.on("close", () => this.end());
    this.#stopWaiting = server.world.clock.after(loginMillisecondsMax, () => {
      if (!this.hasAuthenticated) this.end();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** So much waits for others that nothing more may. */
  get hasPendingLimitReached(): boolean {
    return this.#asyncLives.size >= pendingRequestsMax || this.#waitingBytes >= pendingBytesMax;
  }

  get dialect(): number {
    return this.negotiated?.dialect ?? Dialect.v202;
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.destroy();
    this.#framer.close();
    this.#stopWaiting();
    this.server.clients.remove(this);
    for (const life of [...this.#lives.values(), ...this.#asyncLives.values()]) {
      if (!life.outlivesConnection) life.cancel();
    }
    for (const channel of this.channels.values()) {
      const { account } = channel.session;
      this.server.backgroundWork.addForAccount(account, removeChannel(this.server, channel));
    }
  }

  /** How messages of a session are signed here, also for a while after it has ended. */
  signerOf(sessionId: bigint): Signer | undefined {
    const there = this.channels.get(sessionId) ?? this.server.sessions.get(sessionId);
    return there === undefined ? this.#pastSigners.get(sessionId) : there.signer;
  }

  endedSessionSigner(sessionId: bigint): Signer | undefined {
    return this.#pastSigners.get(sessionId);
  }

  /** Its client can only believe that it has ended if it is told so under its key. */
  removeChannel(channel: Channel): void {
    const { session, signer } = channel;
    if (this.channels.get(session.id) !== channel) return;
    this.channels.delete(session.id);
    if (signer === undefined) return;
    this.#pastSigners.set(session.id, signer);
    const [oldest] = this.#pastSigners.keys();
    if (this.#pastSigners.size > sessionsMax && oldest !== undefined) {
      this.#pastSigners.delete(oldest);
    }
  }

  /** Parts of one message, already signed or sealed. */
  send(parts: readonly Buffer[]): void {
    if (!this.#isOpen) return;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.#socket.cork();
    this.#socket.write(framePrefix(length));
    for (const part of parts) this.#socket.write(part);
    this.#socket.uncork();
    this.#readOrRest();
  }

  newAsyncId(life: RequestLifetime): bigint {
    this.#lastAsyncId += 1n;
    this.#asyncLives.set(this.#lastAsyncId, life);
    return this.#lastAsyncId;
  }

  #receive(frame: Buffer): void {
    if (!this.#isOpen) return;
    const magic = frame.length < 4 ? 0 : frame.readUInt32LE(0);
    if (magic === smb1Magic) {
      const answered = answerOldNegotiate(this, frame);
      if (!answered) this.end();
      return;
    }
    if (magic === smb2Magic) return this.#take(frame, undefined);
    if (magic !== encryptedMagic || frame.length <= transformHeaderBytes) return this.end();
    const channel = this.channels.get(frame.readBigUInt64LE(44));
    const session = channel?.isValid === true ? channel.session : undefined;
    const plain = session?.encryptor?.decrypt(frame);
    if (session === undefined || plain === undefined) return this.end();
    this.#take(plain, session);
  }

  #take(chain: Buffer, sealedBy: Session | undefined): void {
    const elements = splitCompound(chain);
    if (elements === undefined) return this.end();
    for (const { header } of elements) {
      if (header.command === Command.cancel) continue;
      const count = this.dialect === Dialect.v202 ? 1 : Math.max(1, header.creditCharge);
      if (!this.window.take(header.messageId, count)) return this.end();
    }
    if (elements[0]?.header.command === Command.cancel) return this.#cancel(elements[0], sealedBy);
    this.#enqueue(elements, chain.length, sealedBy);
  }

  #enqueue(
    elements: readonly CompoundElement[],
    length: number,
    sealedBy: Session | undefined,
  ): void {
    const cost = Math.max(length, answerBytesOf(elements));
    const { memory } = this.server.world;
    memory?.add(length);
    this.#inFlightBytes += cost;
    this.#readOrRest();
    let counts = true;
    const release = (): void => {
      if (!counts) return;
      counts = false;
      this.#inFlightBytes -= cost;
      this.#readOrRest();
    };
    const parallel = elements.length === 1 && isParallel(elements[0]!.header.command);
    const work = new CompoundRequest(this, elements, sealedBy);
    let held = 0;
    this.#queue.add({
      isParallel: parallel,
      run: async (stepAside) => {
        try {
          await work.run(() => {
            // A message that waits for another client must not block later messages of this
            // connection, but its bytes still count.
            release();
            if (held === 0) this.#waitingBytes += held = length;
            stepAside();
          });
        } catch (error) {
          this.server.world.log.error({ err: error }, "an SMB message failed unexpectedly");
          this.end();
        }
        release();
        memory?.give(length);
        this.#waitingBytes -= held;
      },
    });
  }

  /** A client is not read from while it has too much under way, or does not take its answers. */
  #readOrRest(): void {
    if (!this.#isOpen) return;
    const isFull =
      this.#inFlightBytes > inFlightBytesMax || this.#socket.writableLength > unsentBytesMax;
    if (isFull) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  register(messageId: bigint, life: RequestLifetime): void {
    this.#lives.set(messageId, life);
    if (!this.#isOpen) life.cancel();
  }

  unregister(messageId: bigint, life: RequestLifetime): void {
    this.#lives.delete(messageId);
    if (life.asyncId !== undefined) this.#asyncLives.delete(life.asyncId);
  }

  /** Never answered: the message that it means is. */
  #cancel({ header, message }: CompoundElement, sealedBy: Session | undefined): void {
    const channel = this.channels.get(header.sessionId);
    const isSigned = (header.flags & HeaderFlag.signed) !== 0;
    const isProved = isSigned && channel?.signer?.verify(message) === true;
    const mustProve = isSigned || channel?.session.signingRequired === true;
    if (sealedBy === undefined && mustProve && !isProved) return;
    const isAsync = (header.flags & HeaderFlag.async) !== 0;
    const life = isAsync ? this.#asyncLives.get(header.asyncId) : this.#lives.get(header.messageId);
    life?.cancel();
  }
}

/** What the answers may take: that is what credits are charged for. */
function answerBytesOf(elements: readonly CompoundElement[]): number {
  return elements.reduce((sum, { header }) => sum + header.creditCharge * bytesPerCredit, 0);
}

/** Side by side with its like: these neither create nor remove what another one names. */
function isParallel(command: number): boolean {
  return command === Command.read || command === Command.write || command === Command.echo;
}
