/** SPNEGO tokens, in which clients and this server wrap the NTLM messages of a login (RFC 4178,
 *  [MS-SPNG]). `smb/ntlm/login.ts` decodes and encodes them. */

const spnegoId = Buffer.from("2b0601050502", "hex");
const ntlmId = Buffer.from("2b06010401823702020a", "hex");
const hint = "not_defined_in_RFC4178@please_ignore";

/** negState of a server token: how far the login is. */
export const Negotiation = { completed: 0, incomplete: 1, requestCheck: 3 } as const;

/** The token in the NEGOTIATE response (NegTokenInit2): offers NTLM as the only login mechanism. */
export function encodeOffer(): Buffer {
  const mechanisms = encodeElement(Tag.sequence, encodeElement(Tag.objectId, ntlmId));
  const hints = encodeElement(
    Tag.sequence,
    encodeElement(field(0), encodeElement(Tag.text, Buffer.from(hint, "latin1"))),
  );
  const token = encodeElement(
    Tag.sequence,
    encodeElement(field(0), mechanisms),
    encodeElement(field(3), hints),
  );
  return encodeElement(
    Tag.application,
    encodeElement(Tag.objectId, spnegoId),
    encodeElement(field(0), token),
  );
}

/** A decoded token of the client. */
export interface ClientToken {
  /** The NTLM message; empty if the client only lists mechanisms. */
  readonly token: Buffer;
  /** The list of login mechanisms in the first token (mechTypes), as the client sent it, because
   *  mechListMIC signs these bytes. Undefined in later tokens. */
  readonly mechanisms: Buffer | undefined;
  /** Whether `token` is an NTLM message: NTLM is the first mechanism of the list. */
  readonly isNtlm: boolean;
  readonly offersNtlm: boolean;
  /** mechListMIC, a signature of the list of mechanisms; undefined if the client sent none. */
  readonly check: Buffer | undefined;
}

export function decodeClientToken(bytes: Buffer): ClientToken | undefined {
  const outer = decodeElements(bytes)?.[0];
  if (outer === undefined) return undefined;
  if (outer.tag === Tag.application) return decodeFirst(outer.content);
  return outer.tag === field(1) ? decodeNext(outer.content) : undefined;
}

function decodeFirst(content: Buffer): ClientToken | undefined {
  const [id, body] = decodeElements(content) ?? [];
  if (id === undefined || body === undefined || !id.content.equals(spnegoId)) return undefined;
  const fields = fieldsOf(body.content);
  const list = fields?.get(field(0));
  const mechanisms = list === undefined ? undefined : decodeElements(list)?.[0];
  const names = mechanisms === undefined ? undefined : decodeElements(mechanisms.content);
  if (fields === undefined || mechanisms === undefined || names === undefined) return undefined;
  return {
    ...messageIn(fields),
    mechanisms: Buffer.from(mechanisms.encoded),
    isNtlm: names[0]?.content.equals(ntlmId) ?? false,
    offersNtlm: names.some((name) => name.content.equals(ntlmId)),
  };
}

function decodeNext(content: Buffer): ClientToken | undefined {
  const fields = fieldsOf(content);
  const ntlm = { mechanisms: undefined, isNtlm: true, offersNtlm: true };
  return fields && { ...messageIn(fields), ...ntlm };
}

function messageIn(fields: ReadonlyMap<number, Buffer>) {
  const token = octetsOf(fields.get(field(2))) ?? Buffer.alloc(0);
  return { token, check: octetsOf(fields.get(field(3))) };
}

function fieldsOf(content: Buffer): ReadonlyMap<number, Buffer> | undefined {
  const sequence = decodeElements(content)?.[0];
  const elements = sequence?.tag === Tag.sequence ? decodeElements(sequence.content) : undefined;
  return elements && new Map(elements.map((element) => [element.tag, element.content]));
}

function octetsOf(content: Buffer | undefined): Buffer | undefined {
  const element = content === undefined ? undefined : decodeElements(content)?.[0];
  return element?.tag === Tag.octets ? element.content : undefined;
}

interface ServerToken {
  readonly state: number;
  /** Whether to include supportedMech; only in the first response. */
  readonly namesMechanism: boolean;
  readonly token?: Buffer | undefined;
  readonly check?: Buffer | undefined;
}

export function encodeServerToken({ state, namesMechanism, token, check }: ServerToken): Buffer {
  const parts = [encodeElement(field(0), encodeElement(Tag.enumerated, Buffer.from([state])))];
  if (namesMechanism) parts.push(encodeElement(field(1), encodeElement(Tag.objectId, ntlmId)));
  if (token !== undefined) parts.push(encodeElement(field(2), encodeElement(Tag.octets, token)));
  if (check !== undefined) parts.push(encodeElement(field(3), encodeElement(Tag.octets, check)));
  return encodeElement(field(1), encodeElement(Tag.sequence, ...parts));
}

/* The encoding of the tokens: the part of DER, a form of ASN.1, that SPNEGO uses. */

const Tag = {
  octets: 0x04,
  objectId: 0x06,
  enumerated: 0x0a,
  text: 0x1b,
  sequence: 0x30,
  application: 0x60,
} as const;

/** The tag of a constructed context-specific field `[n]`. */
function field(index: number): number {
  return 0xa0 + index;
}

interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content, as the client sent them. */
  readonly encoded: Buffer;
}

const longForm = 0x80;
const lengthBytesMax = 3;
const elementsMax = 64;

/** Decodes consecutive DER elements; undefined if malformed or more than `elementsMax`. */
function decodeElements(bytes: Buffer): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = decodeElement(bytes, at);
    if (element === undefined || elements.length >= elementsMax) return undefined;
    elements.push(element);
    at += element.encoded.length;
  }
  return elements;
}

function decodeElement(bytes: Buffer, at: number): DerElement | undefined {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) return undefined;
  let length = first;
  let start = at + 2;
  if ((first & longForm) !== 0) {
    const count = first & ~longForm;
    if (count === 0 || count > lengthBytesMax || start + count > bytes.length) return undefined;
    length = bytes.readUIntBE(start, count);
    start += count;
  }
  const end = start + length;
  if (end > bytes.length) return undefined;
  return { tag, content: bytes.subarray(start, end), encoded: bytes.subarray(at, end) };
}

function encodeElement(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(content.length)]), content]);
}

function encodeLength(length: number): readonly number[] {
  if (length < longForm) return [length];
  if (length <= 0xff) return [longForm | 1, length];
  return [longForm | 2, length >> 8, length & 0xff];
}
