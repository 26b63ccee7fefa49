import { StoreBusy, StoreClosed, StoreUnavailable } from "../store/store.ts";
import { errorResponse, type SmbResponse, type FileId } from "./response.ts";
import type { Connection } from "./connection.ts";
import type { Signer } from "./crypto/signing.ts";
import { dispatch } from "./dispatch.ts";
import type { CompoundElement } from "./compound-elements.ts";
import { RequestLifetime } from "./request.ts";
import type { Session } from "./session.ts";
import { Status, type NtStatus } from "./status.ts";
import { encodeHeader } from "./wire/header.ts";
import { Command, HeaderFlag } from "./wire/protocol.ts";

/** What a related message takes from the one before it. */
export interface RelatedContext {
  readonly sessionId: bigint;
  readonly treeId: number;
  readonly fileId: FileId | undefined;
  /** Why there is no handle to go on with. */
  readonly failure: NtStatus | undefined;
}

type HeaderIds = Pick<RelatedContext, "sessionId" | "treeId">;

const alignment = 8;
const nextCommandOffset = 20;

/** The messages of one frame, run in order and answered in one frame. */
export class CompoundRequest {
  readonly #connection: Connection;
  readonly #elements: readonly CompoundElement[];
  readonly #sealedBy: Session | undefined;
  readonly #lives: readonly RequestLifetime[];
  #finished: EncodedResponse[] = [];
  #link: RelatedContext | undefined;
  /** The element that runs, with what it takes from the one before it. */
  #current: HeaderIds | undefined;
  #stepAside: () => void = () => {};

  constructor(
    connection: Connection,
    elements: readonly CompoundElement[],
    sealedBy: Session | undefined,
  ) {
    this.#connection = connection;
    this.#elements = elements;
    this.#sealedBy = sealedBy;
    this.#lives = elements.map(({ header }, index) => {
      const life = new RequestLifetime((self) => this.#goAsync(self, index));
      connection.register(header.messageId, life);
      return life;
    });
  }

  async run(stepAside: () => void): Promise<void> {
    this.#stepAside = stepAside;
    for (const [index, element] of this.#elements.entries()) {
      const life = this.#lives[index]!;
      const answer = await this.#runOne(element, life);
      this.#connection.unregister(element.header.messageId, life);
      if (answer.closesConnection === "instead") {
        this.#connection.end();
        return;
      }
      const final = { asyncId: life.asyncId, named: this.#link };
      this.#finished.push(this.#finish(element, answer, final));
    }
    this.#flush();
  }

  async #runOne(element: CompoundElement, life: RequestLifetime): Promise<SmbResponse> {
    const { header } = element;
    const isRelated = (header.flags & HeaderFlag.related) !== 0;
    if (isRelated && this.#link === undefined) return errorResponse(Status.invalidParameter);
    const before = isRelated ? this.#link : undefined;
    const request = {
      ...element,
      header: before === undefined ? header : { ...header, ...pick(before) },
      connection: this.#connection,
      isEncrypted: this.#sealedBy !== undefined,
      sealedBy: this.#sealedBy,
      previous: before,
      life,
    };
    this.#current = request.header;
    const answer = await dispatch(request).catch((error: unknown) => this.#refuse(error));
    const fileId = answer.fileId ?? life.fileId;
    this.#link = nextRelatedContext(request.header, before, { ...answer, ...(fileId && { fileId }) });
    return answer;
  }

  /** An engine that is away, or too busy, has done nothing, and may be there for the next one. */
  #refuse(error: unknown): SmbResponse {
    // This process is stopping: nobody has to be told.
    if (error instanceof StoreClosed) return errorResponse(Status.insufficientResources);
    if (!(error instanceof StoreUnavailable || error instanceof StoreBusy)) throw error;
    this.#connection.server.world.log.warn({ err: error }, "the storage engine refused a message");
    return errorResponse(Status.insufficientResources);
  }

  /**
   * An element waits in its place: its client gets an interim response, and what came before it is
   * answered now, because the client may need those handles to end the wait. What comes after it
   * runs when it is done ([MS-SMB2] 3.3.5.2.7.2).
   */
  #goAsync(life: RequestLifetime, index: number): NtStatus | undefined {
    const element = this.#elements[index]!;
    const isLast = index === this.#elements.length - 1;
    // It may wait for ever, and so would all after it; servers and their clients agree on this.
    if (!isLast && element.header.command === Command.changeNotify) return Status.internalError;
    if (this.#connection.hasPendingLimitReached) return Status.insufficientResources;
    this.#stepAside();
    this.#flush();
    life.asyncId = this.#connection.newAsyncId(life);
    const interim = { asyncId: life.asyncId, named: this.#current };
    this.#finished.push(this.#finish(element, errorResponse(Status.pending), interim));
    this.#flush();
    return undefined;
  }

  #finish(
    { header }: CompoundElement,
    answer: SmbResponse,
    { asyncId, named = header }: { asyncId: bigint | undefined; named: HeaderIds | undefined },
  ): EncodedResponse {
    const { window } = this.#connection;
    const isFinalOfAsync = asyncId !== undefined && answer.status !== Status.pending;
    const sessionId = answer.sessionId ?? named.sessionId;
    const channel = this.#connection.channels.get(sessionId);
    const isAsked = (header.flags & HeaderFlag.signed) !== 0 || channel?.session.signingRequired;
    const mustSign = answer.mustSign === true || (channel?.session.isValid === true && isAsked);
    // What waited when its session ended is still answered under the key of that session.
    const past =
      channel === undefined && isAsked ? this.#connection.endedSessionSigner(sessionId) : undefined;
    const own = mustSign ? channel?.signer : past;
    const chosen = this.#sealedBy === undefined ? (answer.signer ?? own) : undefined;
    // An interim response has the id of the final one; clients take it without a signature.
    const isRepeated = answer.status === Status.pending && chosen?.signsIdOnce === true;
    const signer = isRepeated ? undefined : chosen;
    encodeHeader(answer.message, {
      creditCharge: header.creditCharge,
      status: answer.status,
      command: header.command,
      credits: isFinalOfAsync ? 0 : window.grant(header.creditRequest, header.creditCharge),
      flags: (header.flags & echoedFlags(answer.status)) | (signer ? HeaderFlag.signed : 0),
      messageId: header.messageId,
      asyncId,
      treeId: answer.treeId ?? named.treeId,
      sessionId,
    });
    return { message: answer.message, signer, whenSigned: answer.whenSigned };
  }

  /** Sends what is finished as one frame. */
  #flush(): void {
    const finished = this.#finished;
    this.#finished = [];
    const parts: Buffer[] = [];
    for (const [index, { message, signer, whenSigned }] of finished.entries()) {
      const part = index === finished.length - 1 ? message : padded(message);
      signer?.sign(part);
      whenSigned?.(part);
      parts.push(part);
    }
    if (parts.length === 0) return;
    const sealer = this.#sealedBy?.encryptor;
    this.#connection.send(sealer === undefined ? parts : sealer.encrypt(parts));
  }
}

/** Nothing can sign for a session that is not there: clients look at the flag, not at the rest. */
function echoedFlags(status: NtStatus): number {
  const always = HeaderFlag.related | HeaderFlag.replay;
  return status === Status.userSessionDeleted ? always | HeaderFlag.signed : always;
}

interface EncodedResponse {
  readonly message: Buffer;
  readonly signer: Signer | undefined;
  readonly whenSigned: SmbResponse["whenSigned"];
}

function pick({ sessionId, treeId }: RelatedContext) {
  return { sessionId, treeId };
}

/** The next message begins at a multiple of eight, and this one says where. */
function padded(message: Buffer): Buffer {
  const length = Math.ceil(message.length / alignment) * alignment;
  const part = length === message.length ? message : Buffer.alloc(length);
  if (part !== message) message.copy(part);
  part.writeUInt32LE(length, nextCommandOffset);
  return part;
}

function nextRelatedContext(
  header: { sessionId: bigint; treeId: number; command: number },
  before: RelatedContext | undefined,
  answer: SmbResponse,
): RelatedContext | undefined {
  // Nothing can be related to a message of nobody.
  if (answer.status === Status.userSessionDeleted) return undefined;
  const creates = header.command === Command.create;
  const failed = answer.status >= failureMin;
  return {
    sessionId: answer.sessionId ?? header.sessionId,
    treeId: answer.treeId ?? header.treeId,
    fileId: answer.fileId ?? (creates ? undefined : before?.fileId),
    failure: creates ? (failed ? answer.status : undefined) : before?.failure,
  };
}

const failureMin = 0xc000_0000;
