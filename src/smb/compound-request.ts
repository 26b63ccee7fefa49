import { isTemporary, StoreClosed } from "../store/store.ts";
import { errorResponse, type FileId, type SmbResponse, RequestLifetime } from "./request.ts";
import type { Connection } from "./connection.ts";
import type { Signer } from "./crypto/session-keys.ts";
import { dispatch } from "./operations/dispatch.ts";
import type { Session } from "./session.ts";
import { Status, type NtStatus } from "./status.ts";
import { decodeHeader, encodeHeader, headerBytes, type Header } from "./wire/header.ts";
import { Command, HeaderFlag } from "./wire/protocol.ts";

/** The requests of one frame: clients may send several, as a compound ([MS-SMB2] 3.3.5.2.7), so
 *  `smb/connection.ts` handles every frame as one. */

/** One request of a frame: its decoded header, and its bytes with the header. */
export interface CompoundElement {
  readonly header: Header;
  readonly message: Buffer;
}

/** Limit of the requests in one frame; a frame with more is malformed and ends the connection. */
const elementsMax = 256;

/** Splits a frame into its requests, whose headers contain the offset of the next one
 *  (NextCommand); undefined if one is malformed. */
export function splitCompound(frame: Buffer): readonly CompoundElement[] | undefined {
  const elements: CompoundElement[] = [];
  for (let at = 0; elements.length < elementsMax;) {
    const header = decodeHeader(frame.subarray(at));
    if (header === undefined) return undefined;
    if ((header.flags & HeaderFlag.response) !== 0) return undefined;
    const { nextCommand } = header;
    if (nextCommand === 0) {
      elements.push({ header, message: frame.subarray(at) });
      return elements;
    }
    if (nextCommand % alignment !== 0 || nextCommand < headerBytes) return undefined;
    if (at + nextCommand >= frame.length) return undefined;
    elements.push({ header, message: frame.subarray(at, at + nextCommand) });
    at += nextCommand;
  }
  return undefined;
}

/** What a related request of a compound (with the flag RELATED) inherits from the request before it
 *  instead of its own ids ([MS-SMB2] 3.3.5.2.7.2). */
export interface RelatedContext {
  readonly sessionId: bigint;
  readonly treeId: number;
  readonly fileId: FileId | undefined;
  /** Status of an earlier CREATE that failed: related requests fail with it, too. */
  readonly failure: NtStatus | undefined;
}

type HeaderIds = Pick<RelatedContext, "sessionId" | "treeId">;

const alignment = 8;
const nextCommandOffset = 20;

/** Runs the requests of one frame in order and sends their responses in one frame. */
export class CompoundRequest {
  readonly #connection: Connection;
  readonly #elements: readonly CompoundElement[];
  readonly #encryptedBy: Session | undefined;
  readonly #lifetimes: readonly RequestLifetime[];
  #encoded: EncodedResponse[] = [];
  #related: RelatedContext | undefined;
  /** SessionId and TreeId of the running request, own or inherited. */
  #current: HeaderIds | undefined;
  #unblockQueue: () => void = () => {};

  constructor(
    connection: Connection,
    elements: readonly CompoundElement[],
    encryptedBy: Session | undefined,
  ) {
    this.#connection = connection;
    this.#elements = elements;
    this.#encryptedBy = encryptedBy;
    this.#lifetimes = elements.map(({ header }, index) => {
      const origin = { client: connection.peer, command: header.command };
      const lifetime = new RequestLifetime(origin, (self) => this.#goAsync(self, index));
      connection.register(header.messageId, lifetime);
      return lifetime;
    });
  }

  /** `unblockQueue` is called when a request begins to wait for another client. */
  async run(unblockQueue: () => void): Promise<void> {
    this.#unblockQueue = unblockQueue;
    for (const [index, element] of this.#elements.entries()) {
      const lifetime = this.#lifetimes[index]!;
      const response = await this.#runOne(element, lifetime);
      this.#connection.unregister(element.header.messageId, lifetime);
      if (response.closesConnection === true) {
        this.#connection.end();
        return;
      }
      const sender = { asyncId: lifetime.asyncId, ids: this.#related };
      this.#encoded.push(this.#encode(element, response, sender));
    }
    this.#flush();
  }

  async #runOne(element: CompoundElement, lifetime: RequestLifetime): Promise<SmbResponse> {
    const { header } = element;
    const isRelated = (header.flags & HeaderFlag.related) !== 0;
    if (isRelated && this.#related === undefined) return errorResponse(Status.invalidParameter);
    const inherited = isRelated ? this.#related : undefined;
    const request = {
      message: element.message,
      header: inherited === undefined ? header : { ...header, ...idsOf(inherited) },
      connection: this.#connection,
      encryptedBy: this.#encryptedBy,
      previous: inherited,
      lifetime,
    };
    this.#current = request.header;
    const audit = this.#connection.server.auditor?.begin(request);
    const response = await dispatch(request).catch((error: unknown) => this.#errorFor(error));
    audit?.(response);
    this.#connection.server.changeReporter?.record(request, response);
    const fileId = response.fileId ?? lifetime.fileId;
    this.#related = nextRelatedContext(request.header, inherited, { response, fileId });
    return response;
  }

  /** The response to an exception. A storage error changed nothing and may be temporary, so the
   *  connection stays open; any other exception is thrown again and closes it. */
  #errorFor(error: unknown): SmbResponse {
    // The server is stopping: no line in the log, because nothing is wrong.
    if (error instanceof StoreClosed) return errorResponse(Status.insufficientResources);
    if (!isTemporary(error)) throw error;
    this.#connection.server.world.log.warn(
      { err: error },
      "storage unavailable; SMB request failed with INSUFFICIENT_RESOURCES",
    );
    return errorResponse(Status.insufficientResources);
  }

  /** Called when a request begins to wait: sends its interim response (STATUS_PENDING), after the
   *  responses to earlier requests of the compound, because the client may need their handles to
   *  end the wait. Later requests of the compound run after it ([MS-SMB2] 3.3.5.2.7.2). Returns the
   *  error status if the request must not wait. */
  #goAsync(lifetime: RequestLifetime, index: number): NtStatus | undefined {
    const element = this.#elements[index]!;
    const isLast = index === this.#elements.length - 1;
    // A CHANGE_NOTIFY may never complete; then the later requests of the compound would never run.
    if (!isLast && element.header.command === Command.changeNotify) return Status.internalError;
    if (this.#connection.hasPendingLimitReached) return Status.insufficientResources;
    this.#unblockQueue();
    this.#flush();
    lifetime.asyncId = this.#connection.newAsyncId(lifetime);
    const interim = { asyncId: lifetime.asyncId, ids: this.#current };
    this.#encoded.push(this.#encode(element, errorResponse(Status.pending), interim));
    this.#flush();
    return undefined;
  }

  #encode(
    { header }: CompoundElement,
    response: SmbResponse,
    { asyncId, ids = header }: { asyncId: bigint | undefined; ids: HeaderIds | undefined },
  ): EncodedResponse {
    const { window } = this.#connection;
    const isFinalOfAsync = asyncId !== undefined && response.status !== Status.pending;
    const sessionId = response.sessionId ?? ids.sessionId;
    const channel = this.#connection.channels.get(sessionId);
    const signingRequested =
      (header.flags & HeaderFlag.signed) !== 0 || channel?.session.signingRequired;
    const mustSign =
      response.mustSign === true || (channel?.session.isValid === true && signingRequested);
    // If the session of a pending request has ended, its key still signs the response.
    const ended =
      channel === undefined && signingRequested
        ? this.#connection.endedSessionSigner(sessionId)
        : undefined;
    const channelSigner = mustSign ? channel?.signer : ended;
    const chosen = this.#encryptedBy === undefined ? (response.signer ?? channelSigner) : undefined;
    // An interim response has the MessageId of the final one, for which only one signature is
    // allowed (`signsIdOnce`). Clients accept it without a signature.
    const reusesId = response.status === Status.pending && chosen?.signsIdOnce === true;
    const signer = reusesId ? undefined : chosen;
    encodeHeader(response.message, {
      creditCharge: header.creditCharge,
      status: response.status,
      command: header.command,
      credits: isFinalOfAsync ? 0 : window.grant(header.creditRequest, header.creditCharge),
      flags: (header.flags & echoedFlags(response.status)) | (signer ? HeaderFlag.signed : 0),
      messageId: header.messageId,
      asyncId,
      treeId: response.treeId ?? ids.treeId,
      sessionId,
    });
    return { message: response.message, signer, whenSigned: response.whenSigned };
  }

  /** Sends the responses that are encoded and not yet sent, in one frame. */
  #flush(): void {
    const encoded = this.#encoded;
    this.#encoded = [];
    const parts: Buffer[] = [];
    for (const [index, { message, signer, whenSigned }] of encoded.entries()) {
      const part = index === encoded.length - 1 ? message : padded(message);
      signer?.sign(part);
      whenSigned?.(part);
      parts.push(part);
    }
    if (parts.length === 0) return;
    const encryptor = this.#encryptedBy?.encryptor;
    this.#connection.send(encryptor === undefined ? parts : encryptor.encrypt(parts));
  }
}

/** The request flags that a response with this status repeats. An error about an unknown session
 *  repeats SIGNED, which clients expect, although the server has no key to sign with. */
function echoedFlags(status: NtStatus): number {
  const always = HeaderFlag.related | HeaderFlag.replay;
  return status === Status.userSessionDeleted ? always | HeaderFlag.signed : always;
}

/** A response with its header, before it is signed. */
interface EncodedResponse {
  readonly message: Buffer;
  readonly signer: Signer | undefined;
  readonly whenSigned: SmbResponse["whenSigned"];
}

function idsOf({ sessionId, treeId }: RelatedContext) {
  return { sessionId, treeId };
}

/** Pads a response of a compound, except the last one, to 8 bytes and sets NextCommand. */
function padded(message: Buffer): Buffer {
  const length = Math.ceil(message.length / alignment) * alignment;
  const part = length === message.length ? message : Buffer.alloc(length);
  if (part !== message) message.copy(part);
  part.writeUInt32LE(length, nextCommandOffset);
  return part;
}

/** What the next request of the compound inherits if it is a related one. */
function nextRelatedContext(
  header: { sessionId: bigint; treeId: number; command: number },
  inherited: RelatedContext | undefined,
  { response, fileId }: { readonly response: SmbResponse; readonly fileId: FileId | undefined },
): RelatedContext | undefined {
  // A request without a session cannot be continued.
  if (response.status === Status.userSessionDeleted) return undefined;
  const creates = header.command === Command.create;
  const failed = response.status >= failureMin;
  return {
    sessionId: response.sessionId ?? header.sessionId,
    treeId: response.treeId ?? header.treeId,
    fileId: fileId ?? (creates ? undefined : inherited?.fileId),
    failure: creates ? (failed ? response.status : undefined) : inherited?.failure,
  };
}

/** Lowest NTSTATUS with severity "error". */
const failureMin = 0xc000_0000;
