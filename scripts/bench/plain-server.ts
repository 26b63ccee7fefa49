// The bare servers of Node that ours are held against, in a process of their own:
// `node plain-server.js MODE FOLDER [CERTIFICATE KEY]`. Prints the port it listens at.
import { createHash } from "node:crypto";
import {
  closeSync,
  fdatasync,
  openSync,
  read,
  readFileSync,
  unlinkSync,
  write,
  writeSync,
} from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PlainMode } from "./plain-modes.ts";

const [mode = "", folder = "", certificate, key] = process.argv.slice(2);
const writeAt = promisify(write);
const sync = promisify(fdatasync);
const kibibyte = Buffer.alloc(1024, 1);
const largeBytes = 8 * 1024 * 1024;
/** As large as what our own reader takes at once. */
const chunkBytes = 1024 * 1024;
/** As long as a file that our own bodies are appended to. */
const fileBytesMax = 256 * 1024 * 1024;

function created(response: ServerResponse): void {
  response.writeHead(201, { etag: '"0x1"', "content-length": 0 });
  response.end();
}

function takeIn(request: IncomingMessage, response: ServerResponse): void {
  request.on("data", () => {});
  request.on("end", () => created(response));
}

function answerContent(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === "PUT") return takeIn(request, response);
  response.writeHead(200, { etag: '"0x1"', "content-length": kibibyte.length });
  response.end(kibibyte);
}

/** One flush at a time for all waiting requests, as this server does. */
function groupedSync(descriptor: number): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    const flush = sync(descriptor).finally(() => {
      if (running === flush) running = undefined;
    });
    running = flush;
    return flush;
  };
  return () => (running === undefined ? begin() : (next ??= running.then(begin)));
}

interface Growing {
  readonly descriptor: number;
  readonly flush: () => Promise<void>;
  /** Where the next body goes. */
  end: number;
  /** Bodies on their way into it. */
  users: number;
}

/** Bodies are appended to a file, and to another one when that is full. */
function streamToFile(): RequestListener {
  let current = newFile();
  const begin = (length: number): Growing => {
    if (current.end + length > fileBytesMax) {
      if (current.users === 0) closeSync(current.descriptor);
      current = newFile();
    }
    current.users += 1;
    return current;
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const length = Number(request.headers["content-length"] ?? 0);
    const file = begin(length);
    let at = file.end;
    file.end += length;
    const hash = createHash("md5");
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      await writeAt(file.descriptor, chunk, 0, chunk.length, at);
      at += chunk.length;
    }
    const sum = hash.digest("base64");
    if (length > 0) await file.flush();
    file.users -= 1;
    if (file !== current && file.users === 0) closeSync(file.descriptor);
    response.writeHead(201, { etag: '"0x1"', "content-md5": sum, "content-length": 0 });
    response.end();
  };
  return (request, response) => void receive(request, response);
}

/** Without a name, so that its space comes back when it is closed. */
function newFile(): Growing {
  const path = join(folder, "stream");
  const descriptor = openSync(path, "wx");
  unlinkSync(path);
  return { descriptor, flush: groupedSync(descriptor), end: 0, users: 0 };
}

function readToSocket(): RequestListener {
  const descriptor = openSync(join(folder, "pread"), "w+");
  writeSync(descriptor, Buffer.alloc(largeBytes, 7));
  const free: Buffer[] = [];
  return (request, response) => {
    if (request.method === "PUT") return takeIn(request, response);
    response.writeHead(200, { etag: '"0x1"', "content-length": largeBytes });
    const buffer = free.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
    const from = (at: number): void => {
      read(descriptor, buffer, 0, chunkBytes, at, (error, count) => {
        if (error !== null) throw error;
        const isLast = at + count >= largeBytes;
        response.write(buffer.subarray(0, count), () => {
          if (!isLast) return from(at + count);
          response.end();
          free.push(buffer);
        });
      });
    };
    from(0);
  };
}

function listenerOf(wanted: PlainMode): RequestListener {
  if (wanted === "empty") return takeIn;
  if (wanted === "content") return answerContent;
  return wanted === "stream" ? streamToFile() : readToSocket();
}

const listener = listenerOf(mode as PlainMode);
const server =
  certificate === undefined || key === undefined
    ? createServer(listener)
    : createSecureServer({ cert: readFileSync(certificate), key: readFileSync(key) }, listener);
server.listen(0, "127.0.0.1", () => {
  console.log(`listening at ${(server.address() as AddressInfo).port}`);
});
