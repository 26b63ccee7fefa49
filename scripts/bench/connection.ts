import { connect } from "node:net";
import type { Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { AnswerReader } from "./answer-reader.ts";
import type { Answer } from "./answer-reader.ts";

interface Pending {
  readonly withoutBody: boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export interface Place {
  readonly port: number;
  readonly secure: boolean;
}

/**
 * One keep-alive connection with one request under way. Written on bare sockets, because a client
 * library costs more than the servers that are measured.
 */
export class Connection {
  readonly #place: Place;
  #socket: Socket | undefined;
  #pending: Pending | undefined;
  #reader = new AnswerReader();

  constructor(place: Place) {
    this.#place = place;
  }

  /** A body of text is sent byte by character, with the head in one call of the system. */
  async send(head: string, body: Buffer | string = ""): Promise<Answer> {
    const socket = this.#socket ?? (await this.open());
    return new Promise((resolve, reject) => {
      this.#pending = { withoutBody: head.startsWith("HEAD "), resolve, reject };
      if (typeof body === "string") {
        socket.write(head + body, "latin1");
        return;
      }
      socket.cork();
      socket.write(head, "latin1");
      socket.write(body);
      socket.uncork();
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  open(): Promise<Socket> {
    const { port, secure } = this.#place;
    this.#reader = new AnswerReader();
    return new Promise((resolve, reject) => {
      const where = { port, host: "127.0.0.1", noDelay: true };
      const connected = (): void => {
        this.#socket = socket;
        resolve(socket);
      };
      // Its certificate was made for this run, by us.
      const socket: Socket = secure
        ? connectSecurely({ ...where, rejectUnauthorized: false }, connected)
        : connect(where, connected);
      if (secure) socket.setNoDelay(true);
      socket.on("data", (piece) => this.#take(piece));
      socket.on("error", reject);
      socket.once("close", () => this.#lose(socket));
    });
  }

  #take(piece: Buffer): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    const answer = this.#reader.take(piece, pending.withoutBody);
    if (answer === undefined) return;
    this.#pending = undefined;
    if (this.#reader.closes) this.close();
    pending.resolve(answer);
  }

  #lose(socket: Socket): void {
    if (this.#socket !== undefined && this.#socket !== socket) return;
    this.#socket = undefined;
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(new Error("the server closed the connection"));
  }
}
