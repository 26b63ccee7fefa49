import type { Clock } from "../base/world.ts";
import type { Socket } from "node:net";
import { CompoundRequest, splitCompound, type CompoundElement } from "./compound-request.ts";
import { removeChannel, type Channel, type Session } from "./session.ts";
import { answerSmb1Negotiate } from "./operations/negotiate.ts";
import { bytesPerCredit, type RequestLifetime } from "./request.ts";
import { type Signer, transformHeaderBytes } from "./crypto/session-keys.ts";
import {
  frameBytesMax,
  inFlightBytesMax,
  keepAliveMilliseconds,
  loginMillisecondsMax,
  pendingBytesMax,
  pendingRequestsMax,
  sessionsMax,
  unauthenticatedFrameBytesMax,
  unreadMillisecondsMax,
  unsentBytesMax,
} from "./limits.ts";
import type { SmbEnvironment, SmbServerState } from "./server.ts";
import { freeBytes } from "../process/bytes.ts";
import { Framer, writeFrame } from "./framing.ts";
import { ConnectionTraffic } from "./traffic.ts";
import { encryptedMagic, smb1Magic, smb2Magic } from "./wire/header.ts";
import { Command, Dialect, HeaderFlag } from "./wire/protocol.ts";

/** The connections of SMB clients: credits, decryption, and the order in which requests run.
 *  `smb/server.ts` makes a `Connection` for each socket. */

/** The work of one frame. Frames run in order of arrival, one after the other. Adjacent frames with
 *  `isParallel` run at the same time: clients send many READs and WRITEs, and a WRITE waits for the
 *  disk. */
interface Job {
  readonly isParallel: boolean;
  /** Upper bound of the bytes that the job holds in memory: of its frame or its responses. */
  readonly bytes: number;
  /** The job calls `unblockQueue` when it begins to wait for another client, so that later frames
   *  can run. */
  run(unblockQueue: () => void): Promise<void>;
  /** Called instead of `run` if the connection is closed before the job starts. */
  discard(): void;
}

/** Most frames of one connection that start in one iteration of the event loop; others wait for the
 *  next one, so that other connections are served between. */
const startsTogetherMax = 32;

/** The queue of the frames of one connection, which starts them as `Job` and memory permit. */
export class RequestQueue {
  readonly #queued: Job[] = [];
  #starts = 0;
  #running = 0;
  #barrierRuns = false;
  readonly #clock: Clock;
  readonly #hasRoomFor: (bytes: number) => boolean;

  /** `hasRoomFor`: whether a job of this size may start now. If not, `wake` must be called when it
   *  may. */
  constructor(clock: Clock, hasRoomFor: (bytes: number) => boolean) {
    this.#clock = clock;
    this.#hasRoomFor = hasRoomFor;
  }

  get length(): number {
    return this.#queued.length;
  }

  add(job: Job): void {
    this.#queued.push(job);
    this.wake();
  }

  /** Discards the jobs that have not started, because the connection is closed. */
  close(): void {
    for (const job of this.#queued.splice(0)) job.discard();
  }

  /** Starts the jobs that may start now; called when there may be room for them again. */
  wake(): void {
    for (;;) {
      const next = this.#queued[0];
      if (next === undefined || this.#barrierRuns) return;
      if (!next.isParallel && this.#running > 0) return;
      if (this.#starts >= startsTogetherMax) return;
      if (!this.#hasRoomFor(next.bytes)) return;
      // A client may send thousands of frames at once; a pause lets other connections run.
      if (this.#starts === 0) {
        this.#clock.nextIteration(() => {
          this.#starts = 0;
          this.wake();
        });
      }
      this.#starts += 1;
      this.#queued.shift();
      this.#start(next);
    }
  }

  #start(job: Job): void {
    this.#running += 1;
    this.#barrierRuns = !job.isParallel;
    let isCounted = true;
    const unblock = (): void => {
      if (!isCounted) return;
      isCounted = false;
      this.#running -= 1;
      if (!job.isParallel) this.#barrierRuns = false;
      this.wake();
    };
    void job.run(unblock).finally(unblock);
  }
}

/** Limit of the window of MessageIds of one connection, from the lowest unused to the highest
 *  granted one. A client that reaches it gets no further credits until it uses the lowest. */
export const creditsMax = 8192;

/** The MessageIds a client may use: each once, in any order, from `low`, the lowest unused one, to
 *  before `high`, the first not granted ([MS-SMB2] 3.3.1.1). One credit is one id. Example: with
 *  low 5, high 9 and 6 used, the client may use 5, 7 and 8. */
export class SequenceWindow {
  #low = 0n;
  #high = 1n;
  readonly #used = new Set<bigint>();

  /** Marks `count` ids from `first` on as used; false if one was used before or not granted. */
  take(first: bigint, count: number): boolean {
    const end = first + BigInt(count);
    if (first < this.#low || end > this.#high) return false;
    for (let id = first; id < end; id += 1n) if (this.#used.has(id)) return false;
    for (let id = first; id < end; id += 1n) this.#used.add(id);
    while (this.#used.delete(this.#low)) this.#low += 1n;
    return true;
  }

  /** Grants credits and returns their number. A client without unused credits gets at least one.
   *  `charge` is the number of ids that the request used. */
  grant(requested: number, charge: number): number {
    const span = Number(this.#high - this.#low);
    const unused = span - this.#used.size;
    // The window cannot move past an unused id: a client that skips one gets fewer credits.
    const available = Math.max(0, creditsMax - span);
    const desired = Math.max(requested, charge, 1);
    const count = Math.min(desired, available);
    const minimum = unused === 0 ? 1 : 0;
    const granted = Math.max(count, minimum);
    this.#high += BigInt(granted);
    return granted;
  }
}

/** Calls `end` if the client does not complete a frame that it has begun, or does not read its
 *  responses: both take memory that other clients need. Idle clients are not ended. Returns the
 *  function that stops these checks. */
export function endStalledClient(
  framer: Framer,
  socket: Socket,
  { watchFrames, clock }: Pick<SmbEnvironment, "watchFrames" | "clock">,
  end: () => void,
): () => void {
  watchFrames?.(socket, {
    get isWaiting() {
      return framer.isIncomplete && !socket.isPaused();
    },
    get bytes() {
      return socket.bytesRead;
    },
    end,
  });
  let sentBefore: number | undefined;
  const check = (): void => {
    const sent = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength > 0 && sent === sentBefore) return end();
    sentBefore = sent;
    cancel = clock.after(unreadMillisecondsMax, check);
  };
  let cancel = clock.after(unreadMillisecondsMax, check);
  return () => cancel();
}

/** What client and server have agreed on with NEGOTIATE, and what the client sent in it. */
export interface NegotiatedParameters {
  readonly dialect: number;
  readonly cipher: number;
  readonly signingAlgorithm: number;
  readonly clientGuid: Buffer;
  readonly clientCapabilities: number;
  readonly clientSecurityMode: number;
  readonly capabilities: number;
  readonly clientDialects: readonly number[];
}

/** One TCP connection ([MS-SMB2] 3.3.1.7): its dialect, its channels and its running requests. */
export class Connection {
  readonly server: SmbServerState;
  readonly peer: string;
  /** The address of the server on this connection; FSCTL_QUERY_NETWORK_INTERFACE_INFO reports
   *  it. */
  readonly localAddress: string;
  readonly window = new SequenceWindow();
  /** The channels of this connection, by session id. */
  readonly channels = new Map<bigint, Channel>();
  negotiated: NegotiatedParameters | undefined;
  /** Preauthentication integrity hash: SHA-512 over the NEGOTIATE messages, for dialect 3.1.1. */
  preauthHash: Buffer = Buffer.alloc(64);
  /** Whether an SMB1 NEGOTIATE was received: it is accepted only once. */
  hasSmb1Negotiate = false;
  /** Whether a client has logged in on this connection. Before that its frames may only be short
   *  (`unauthenticatedFrameBytesMax`). */
  hasAuthenticated = false;
  readonly #socket: Socket;
  readonly #framer: Framer;
  readonly #cancelLoginTimer: () => void;
  readonly #cancelStallTimer: () => void;
  readonly #traffic: ConnectionTraffic;
  readonly #queue: RequestQueue;
  readonly #lifetimes = new Map<bigint, RequestLifetime>();
  readonly #asyncLifetimes = new Map<bigint, RequestLifetime>();
  readonly #endedSigners = new Map<bigint, Signer>();
  #inFlightBytes = 0;
  #pendingBytes = 0;
  #lastAsyncId = 0n;
  #isOpen = true;

  constructor(server: SmbServerState, socket: Socket) {
    this.server = server;
    this.#socket = socket;
    this.peer = `${socket.remoteAddress ?? ""}:${socket.remotePort ?? 0}`;
    this.localAddress = socket.localAddress ?? "";
    const bytesMax = (): number =>
      this.hasAuthenticated ? frameBytesMax : unauthenticatedFrameBytesMax;
    this.#framer = new Framer(bytesMax, (frame) => this.#receive(frame), server.world.memory);
    const { clock } = server.world;
    this.#queue = new RequestQueue(clock, (bytes) => this.#traffic.hasRoomFor(bytes));
    this.#traffic = new ConnectionTraffic(server.traffic, () => this.#queue.wake());
    this.#cancelStallTimer = endStalledClient(this.#framer, socket, server.world, () => this.end());
    socket.setNoDelay(true);
    // Keep-alive probes detect a client that crashed, whose handles would otherwise stay open.
    socket.setKeepAlive(true, keepAliveMilliseconds);
    socket.on("data", (chunk: Buffer) => {
      // The framer copies a chunk that continues a frame, so that nothing refers to the chunk any
      // more; other chunks may be parts of frames.
      const isCopied = chunk.length <= this.#framer.missingBytes;
      if (this.#isOpen && !this.#framer.push(chunk)) this.end();
      if (isCopied) freeBytes(chunk);
    });
    socket.on("drain", () => this.#pauseOrResume());
    socket.on("error", () => this.end());
    socket.on("end", () => this.end());
    socket.on("close", () => this.end());
    this.#cancelLoginTimer = server.world.clock.after(loginMillisecondsMax, () => {
      if (!this.hasAuthenticated) this.end();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether so many requests wait that no further one may ([MS-SMB2] 3.3.4.2). */
  get hasPendingLimitReached(): boolean {
    return this.#asyncLifetimes.size >= pendingRequestsMax || this.#pendingBytes >= pendingBytesMax;
  }

  /** The ClientGuid in hexadecimal digits; empty before NEGOTIATE. */
  get clientId(): string {
    return this.negotiated?.clientGuid.toString("hex") ?? "";
  }

  get dialect(): number {
    return this.negotiated?.dialect ?? Dialect.v202;
  }

  /** Closes the connection: cancels its requests and removes its channels from their sessions. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.destroy();
    this.#framer.close();
    this.#queue.close();
    this.#traffic.close();
    this.#cancelLoginTimer();
    this.#cancelStallTimer();
    this.server.clientConnections.remove(this);
    for (const lifetime of [...this.#lifetimes.values(), ...this.#asyncLifetimes.values()]) {
      if (!lifetime.outlivesConnection) lifetime.cancel();
    }
    for (const channel of this.channels.values()) {
      const { account } = channel.session;
      this.server.backgroundWork.addForAccount(account, removeChannel(this.server, channel));
    }
  }

  /** The signer of a session: of its channel here, of the session if this connection is being bound
   *  to it, or of one that has ended here, if it is among the last `sessionsMax`. */
  signerOf(sessionId: bigint): Signer | undefined {
    const current = this.channels.get(sessionId) ?? this.server.sessions.get(sessionId);
    return current === undefined ? this.#endedSigners.get(sessionId) : current.signer;
  }

  /** The signer that a session had on this connection before it ended. */
  endedSessionSigner(sessionId: bigint): Signer | undefined {
    return this.#endedSigners.get(sessionId);
  }

  /** Removes a channel but keeps its signing key: clients accept USER_SESSION_DELETED only with a
   *  valid signature. */
  removeChannel(channel: Channel): void {
    const { session, signer } = channel;
    if (this.channels.get(session.id) !== channel) return;
    this.channels.delete(session.id);
    if (signer === undefined) return;
    this.#endedSigners.set(session.id, signer);
    const [oldest] = this.#endedSigners.keys();
    if (this.#endedSigners.size > sessionsMax && oldest !== undefined) {
      this.#endedSigners.delete(oldest);
    }
  }

  /** Sends one frame, given in parts that are already signed or encrypted. */
  send(parts: readonly Buffer[]): void {
    if (!this.#isOpen) return;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.#traffic.add(length);
    writeFrame(this.#socket, parts, () => this.#traffic.release(length));
    this.#pauseOrResume();
  }

  /** Assigns the AsyncId of a pending request, by which CANCEL finds it. */
  newAsyncId(lifetime: RequestLifetime): bigint {
    this.#lastAsyncId += 1n;
    this.#asyncLifetimes.set(this.#lastAsyncId, lifetime);
    return this.#lastAsyncId;
  }

  #receive(frame: Buffer): void {
    if (!this.#isOpen) return;
    const magic = frame.length < 4 ? 0 : frame.readUInt32LE(0);
    if (magic === smb1Magic) {
      const isAnswered = answerSmb1Negotiate(this, frame);
      if (!isAnswered) this.end();
      return;
    }
    if (magic === smb2Magic) return this.#accept(frame, undefined);
    if (magic !== encryptedMagic || frame.length <= transformHeaderBytes) return this.end();
    const channel = this.channels.get(frame.readBigUInt64LE(44));
    const session = channel?.isValid === true ? channel.session : undefined;
    const plain = session?.encryptor?.decrypt(frame);
    freeBytes(frame);
    if (session === undefined || plain === undefined) return this.end();
    this.#accept(plain, session);
  }

  #accept(frame: Buffer, encryptedBy: Session | undefined): void {
    const elements = splitCompound(frame);
    if (elements === undefined) return this.end();
    for (const { header } of elements) {
      if (header.command === Command.cancel) continue;
      const count = this.dialect === Dialect.v202 ? 1 : Math.max(1, header.creditCharge);
      if (!this.window.take(header.messageId, count)) return this.end();
    }
    if (elements[0]?.header.command === Command.cancel)
      return this.#cancel(elements[0], encryptedBy);
    this.#enqueue(elements, frame, encryptedBy);
  }

  #enqueue(
    elements: readonly CompoundElement[],
    frame: Buffer,
    encryptedBy: Session | undefined,
  ): void {
    const { length } = frame;
    const cost = Math.max(length, responseBytesOf(elements));
    const { memory } = this.server.world;
    memory?.add(length);
    this.#inFlightBytes += cost;
    this.#pauseOrResume();
    let isCounted = true;
    const release = (): void => {
      if (!isCounted) return;
      isCounted = false;
      this.#inFlightBytes -= cost;
      this.#traffic.release(cost);
      this.#pauseOrResume();
    };
    const parallel = elements.length === 1 && isParallel(elements[0]!.header.command);
    const isWrite = elements.length === 1 && elements[0]?.header.command === Command.write;
    const work = new CompoundRequest(this, elements, encryptedBy);
    let pendingBytes = 0;
    this.#queue.add({
      isParallel: parallel,
      bytes: cost,
      discard: () => memory?.release(length),
      run: async (unblockQueue) => {
        this.#traffic.add(cost);
        try {
          await work.run(() => {
            // A request that waits for another client must not block later requests of this
            // connection. Its bytes now count as pending instead of in flight.
            release();
            if (pendingBytes === 0) this.#pendingBytes += pendingBytes = length;
            unblockQueue();
          });
        } catch (error) {
          this.server.world.log.error(
            { err: error },
            "unhandled exception in SMB request; closing connection",
          );
          this.end();
        }
        release();
        memory?.release(length);
        this.#pendingBytes -= pendingBytes;
        // Nothing refers to the frame of a WRITE any more, and it is large.
        if (isWrite) freeBytes(frame);
      },
    });
  }

  /** Stops reading from the socket while the client has too many bytes in running requests or
   *  unread responses, and reads again afterwards. */
  #pauseOrResume(): void {
    if (!this.#isOpen) return;
    const isFull =
      this.#inFlightBytes > inFlightBytesMax || this.#socket.writableLength > unsentBytesMax;
    if (isFull) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** Makes a request known, so that CANCEL and the end of the connection can cancel it. */
  register(messageId: bigint, lifetime: RequestLifetime): void {
    this.#lifetimes.set(messageId, lifetime);
    if (!this.#isOpen) lifetime.cancel();
  }

  unregister(messageId: bigint, lifetime: RequestLifetime): void {
    this.#lifetimes.delete(messageId);
    if (lifetime.asyncId !== undefined) this.#asyncLifetimes.delete(lifetime.asyncId);
  }

  /** Handles CANCEL, which has no response: the cancelled request fails with STATUS_CANCELLED. */
  #cancel({ header, message }: CompoundElement, encryptedBy: Session | undefined): void {
    const channel = this.channels.get(header.sessionId);
    const isSigned = (header.flags & HeaderFlag.signed) !== 0;
    const isVerified = isSigned && channel?.signer?.verify(message) === true;
    const mustSign = isSigned || channel?.session.signingRequired === true;
    if (encryptedBy === undefined && mustSign && !isVerified) return;
    const isAsync = (header.flags & HeaderFlag.async) !== 0;
    const lifetime = isAsync
      ? this.#asyncLifetimes.get(header.asyncId)
      : this.#lifetimes.get(header.messageId);
    lifetime?.cancel();
  }
}

/** Upper bound of the length of the responses, for the limits of memory: a client pays one credit
 *  for each 64 KiB. */
function responseBytesOf(elements: readonly CompoundElement[]): number {
  return elements.reduce((sum, { header }) => sum + header.creditCharge * bytesPerCredit, 0);
}

/** Whether requests with this command may run at the same time (`Job.isParallel`): later requests
 *  do not depend on them, because they neither open nor close handles. */
function isParallel(command: number): boolean {
  return command === Command.read || command === Command.write || command === Command.echo;
}
