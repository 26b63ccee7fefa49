import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Awaitable } from "../../src/base/awaitable.ts";
import { newLoopShare } from "../../src/base/loop-share.ts";
import { parseQuery } from "../../src/blob/query/parse-query.ts";
import { parseQueryRequest, type QueryRequest } from "../../src/blob/query/query-blob.ts";
import { runQuery } from "../../src/blob/query/run-query.ts";
import {
  firstLine,
  frameHeaderBytes,
  readFrames,
} from "../../src/commands/archive/archive-format.ts";
import { recordsOf, loadedRecord } from "../../src/commands/archive/record-loader.ts";
import { parseXml } from "../../src/encoding/xml.ts";
import { ArchiveRefused } from "../../src/host/refused.ts";
import { realClock } from "../../src/host/world.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { readClaims } from "../../src/http/auth/claims.ts";
import { parseEmbeddedRequest } from "../../src/http/batch/embedded-http.ts";
import { boundaryOf, parseMultipart } from "../../src/http/batch/multipart.ts";
import { sasTextOf } from "../../src/http/diagnosis/sas-mistakes.ts";
import { sharedKeyMistakes } from "../../src/http/diagnosis/shared-key-mistakes.ts";
import { encryptorOf, transformHeaderBytes } from "../../src/smb/crypto/session-keys.ts";
import { splitCompound } from "../../src/smb/compound-request.ts";
import { Framer } from "../../src/smb/framing.ts";
import { claimsMic, decodeAuthenticate, hasValidPairs } from "../../src/smb/ntlm/login.ts";
import { handlePdu } from "../../src/smb/pipe/rpc.ts";
import { decodeClientToken } from "../../src/smb/spnego/tokens.ts";
import * as create from "../../src/smb/wire/create.ts";
import * as io from "../../src/smb/wire/io.ts";
import * as query from "../../src/smb/wire/io.ts";
import { decodeIoctl, decodeBreak, decodeLock } from "../../src/smb/wire/io.ts";
import { Cipher } from "../../src/smb/wire/protocol.ts";
import * as session from "../../src/smb/wire/session.ts";
import { readAtomEntity } from "../../src/table/atom/atom.ts";
import { edm } from "../../src/table/edm/edm.ts";
import { matches } from "../../src/table/filter/evaluate.ts";
import { keyBoxes } from "../../src/table/filter/key-boxes.ts";
import { parseFilter } from "../../src/table/filter/parse-filter.ts";
import { readJsonEntity } from "../../src/table/json/read-entity.ts";
import { accountKey, allowed, requestOf } from "../auth/request-of.ts";
import { sampleInputs } from "./target-samples.ts";

/** A function that must accept or reject any bytes: it throws nothing, and ends soon. */
export interface FuzzTarget {
  readonly samples: () => readonly Uint8Array[];
  readonly run: (input: Buffer) => Awaitable<unknown>;
}

const loop = newLoopShare(realClock());
const marker = new Uint8Array(16);

/** Every parser that reads bytes of a client, by name. */
export const fuzzTargets: Readonly<Record<string, FuzzTarget>> = {
  xml: {
    samples: sampleInputs.xml,
    run: (input) => {
      const document = parseXml(input);
      if (document.ok) parseQueryRequest(document.value);
    },
  },
  "odata-filter": {
    samples: sampleInputs.filter,
    run: (input) => {
      const filter = parseFilter(input.toString());
      if (!filter.ok) return;
      keyBoxes(filter.value);
      matches(filter.value, (name) => ({ type: edm.string, value: name }));
    },
  },
  entity: {
    samples: sampleInputs.entity,
    run: (input) => {
      readJsonEntity(input.toString());
      readAtomEntity(input.toString());
    },
  },
  // The part before the first zero byte is the query, the rest is the blob.
  "query-sql": { samples: sampleInputs.sql, run: (input) => queryText(input, "delimited") },
  "query-json": { samples: sampleInputs.json, run: (input) => queryText(input, "json") },
  parquet: {
    samples: parquetFiles,
    run: (input) => queryOf(input, "SELECT * FROM BlobStorage", "parquet"),
  },
  multipart: {
    samples: sampleInputs.multipart,
    run: (input) => {
      const end = Math.max(0, input.indexOf("\n"));
      const boundary = boundaryOf(input.toString("latin1", 0, end)) ?? "b";
      const parts = parseMultipart(input.subarray(end), boundary, { partsMax: 100 });
      for (const part of parts.ok ? parts.value : []) parseEmbeddedRequest(part);
    },
  },
  sas: { samples: sampleInputs.sas, run: (input) => authenticate(input, false) },
  "shared-key": { samples: sampleInputs.sharedKey, run: (input) => authenticate(input, true) },
  token: { samples: sampleInputs.token, run: (input) => readClaims(input.toString("latin1")) },
  archive: { samples: sampleInputs.archive, run: readArchive },
  ntlm: {
    samples: sampleInputs.ntlm,
    run: (input) => {
      for (const message of [input, decodeClientToken(input)?.token ?? Buffer.alloc(0)]) {
        const read = decodeAuthenticate(message);
        if (read === undefined) continue;
        hasValidPairs(read.ntResponse);
        claimsMic(read.ntResponse);
      }
    },
  },
  "smb-pipe": {
    samples: sampleInputs.pipe,
    run: (input) => handlePdu(input, "srvsvc", async (_, body) => body),
  },
  smb2: { samples: sampleInputs.smb2, run: readSmbFrame },
  "smb2-encrypted": { samples: sampleInputs.encrypted, run: decryptFrame },
  "smb2-framing": {
    samples: sampleInputs.framing,
    run: (input) => {
      const framer = new Framer(() => 1 << 20, readSmbFrame);
      for (let at = 0; at < input.length; at += 7) {
        if (!framer.push(input.subarray(at, at + 7))) return;
      }
    },
  },
};

function parquetFiles(): readonly Uint8Array[] {
  const folder = join(process.cwd(), "tests", "sdk", "parquet-files");
  const files = ["all-deltas", "all-snappy", "all-brotli", "all-gzip-pages-2", "nested"];
  return files.map((name) => readFileSync(join(folder, `${name}.parquet`)));
}

function queryText(input: Buffer, type: string): Awaitable<unknown> {
  const end = input.indexOf(0);
  const sql = input.toString("utf8", 0, end < 0 ? input.length : end);
  return queryOf(end < 0 ? Buffer.alloc(0) : input.subarray(end + 1), sql, type);
}

const queryForms: Readonly<Record<string, string>> = {
  delimited:
    "<InputSerialization><Format><Type>delimited</Type></Format></InputSerialization>" +
    "<OutputSerialization><Format><Type>arrow</Type><ArrowConfiguration><Schema><Field>" +
    "<Type>string</Type><Name>a</Name></Field></Schema></ArrowConfiguration></Format>" +
    "</OutputSerialization>",
  json:
    "<InputSerialization><Format><Type>json</Type><JsonTextConfiguration><RecordSeparator>\n" +
    "</RecordSeparator></JsonTextConfiguration></Format></InputSerialization>",
  parquet: "<InputSerialization><Format><Type>parquet</Type></Format></InputSerialization>",
};

const queryRequests = Object.fromEntries(
  Object.entries(queryForms).map(([type, form]) => [type, queryRequestOf(form)]),
);

function queryRequestOf(form: string): QueryRequest {
  const text =
    "<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * FROM BlobStorage" +
    `</Expression>${form}</QueryRequest>`;
  const document = parseXml(text);
  const request = document.ok ? parseQueryRequest(document.value) : document;
  if (!request.ok) throw new Error(request.fault.code);
  return request.value;
}

/** Results are written as Avro, those of delimited text as Arrow inside it. */
async function queryOf(blob: Buffer, sql: string, type: string): Promise<void> {
  const parsed = parseQuery(sql);
  if (!parsed.ok) return;
  const read = async function* (from: number, length: number) {
    yield blob.subarray(from, from + length);
  };
  const source = { chunks: read(0, blob.length), read, totalBytes: blob.length, marker, loop };
  const asked = { ...queryRequests[type]!, query: parsed.value, expressionUnits: sql.length };
  for await (const chunk of runQuery(source, asked)) void chunk;
}

const authenticator = new Authenticator();

/** Input: lines of `METHOD URL`, then `name: value`. */
function authenticate(input: Buffer, isSigned: boolean): void {
  const [first = "", ...lines] = input.toString("latin1").split("\n");
  const [method = "", url = ""] = first.split(" ");
  const rawHeaders = lines.flatMap((line) => [line.split(":", 1)[0]!, line.replace(/^.*?:/, "")]);
  const wire = { method, url: isDecodable(url) ? url : "/", rawHeaders };
  const request = requestOf(wire);
  authenticator.authenticate(request, [accountKey, accountKey], allowed);
  if (isSigned) sharedKeyMistakes(request, "SharedKey");
  else sasTextOf(request);
}

/** The server rejects other URLs before it authenticates. */
function isDecodable(url: string): boolean {
  try {
    return decodeURIComponent(url) !== "";
  } catch {
    return false;
  }
}

/** Input: a kind, then the payload of a frame. Its checksum is made to match. */
async function readArchive(input: Buffer): Promise<void> {
  const payload = input.subarray(1);
  const header = Buffer.alloc(frameHeaderBytes);
  header.writeUInt8(input[0] ?? 0, 0);
  header.writeUInt32BE(payload.length, 8);
  header.writeUInt32BE(payload.length, 12);
  header.writeUInt32BE(crc32(payload, crc32(header.subarray(0, 16))), 16);
  const bytes = Buffer.concat([Buffer.from(firstLine), header, payload]);
  try {
    const frames = readFrames(
      (async function* () {
        yield bytes;
      })(),
    );
    for await (const frame of frames) {
      if (frame.kind !== "records") continue;
      const { table } = frame.payload;
      for (const each of recordsOf(frame.payload)) loadedRecord({ table, ...each }, (id) => id);
    }
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
  }
}

const decoders: readonly ((message: Buffer) => unknown)[] = [
  io.decodeClose,
  io.decodeFlush,
  io.decodeRead,
  io.decodeWrite,
  decodeIoctl,
  decodeLock,
  decodeBreak,
  query.decodeQueryDirectory,
  query.decodeChangeNotify,
  query.decodeQueryInfo,
  query.decodeSetInfo,
  session.decodeSessionSetup,
  session.decodeTreeConnect,
  (message) => {
    const contexts = create.decodeCreate(message)?.contexts ?? create.decodeContexts(message) ?? [];
    for (const { data } of contexts) create.decodeLease(data);
    return create.decodeDurable(contexts);
  },
  (message) => {
    const request = session.decodeNegotiate(message);
    for (const { data } of request?.contexts ?? []) session.decodeAlgorithms(data, true);
  },
];

function readSmbFrame(frame: Buffer): void {
  session.decodeSmb1Negotiate(frame);
  for (const { message } of splitCompound(frame) ?? []) {
    for (const decode of decoders) decode(message);
  }
}

const encryptors = Object.values(Cipher)
  .filter((cipher) => cipher !== Cipher.none)
  .map((cipher) => {
    const key = Buffer.alloc(cipher >= Cipher.aes256Ccm ? 32 : 16, 1);
    const keys = { signing: key, incoming: key, outgoing: key };
    return encryptorOf({ sessionId: 1n, cipher, keys });
  });

function decryptFrame(input: Buffer): void {
  if (input.length === 0) return;
  for (const encryptor of encryptors) {
    // A connection ends at shorter frames.
    if (input.length > transformHeaderBytes) encryptor.decrypt(Buffer.from(input));
    const sealed = encryptor.decrypt(Buffer.concat(encryptor.encrypt([input])));
    if (sealed === undefined || !sealed.equals(input)) throw new Error("does not decrypt");
  }
  readSmbFrame(input);
}
