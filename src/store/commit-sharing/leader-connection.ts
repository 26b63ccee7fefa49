import { connect } from "node:net";

import type { Clock } from "../../base/world.ts";
import { Connection } from "./connection.ts";
import { readLeaderMessage } from "./messages.ts";
import type { Answer, LeaderMessage, Notice } from "./messages.ts";

export interface LeaderConnectionOptions {
  /** Path of the leader's Unix socket. */
  readonly socket: string;
  readonly clock: Clock;
  readonly onNotice: (notice: Notice) => void;
  readonly onClose: (reason: unknown) => void;
}

/** A batch that was sent and not answered yet. */
interface Exchange {
  readonly number: number;
  readonly resolve: (answer: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
  readonly cancelTimeout: () => void;
}

/** Limit of this server for the answer to a batch. A leader that takes longer is assumed to have
 *  stopped, and the connection is closed. */
export const answerMillisecondsMax = 5_000;

/** A follower's connection to its leader. */
export class LeaderConnection {
  readonly #options: LeaderConnectionOptions;
  readonly #connection: Connection;
  #exchange: Exchange | undefined;

  /** Resolves when the connection is open; with `undefined` if that failed. */
  static open(options: LeaderConnectionOptions): Promise<LeaderConnection | undefined> {
    return new Promise((resolve) => {
      const socket = connect(options.socket);
      const onClose = (reason: unknown): void => {
        resolve(undefined);
        options.onClose(reason);
      };
      const opened = new LeaderConnection({ ...options, onClose }, socket);
      socket.once("connect", () => resolve(opened));
    });
  }

  private constructor(options: LeaderConnectionOptions, socket: ReturnType<typeof connect>) {
    this.#options = options;
    this.#connection = new Connection(socket, {
      onFrame: (content) => this.#receive(readLeaderMessage(content)),
      onClose: (reason) => {
        this.#endExchange()?.resolve(undefined);
        options.onClose(reason);
      },
    });
  }

  send(frame: Buffer): void {
    this.#connection.send(frame);
  }

  /** Sends a batch. Resolves with its answer; with `undefined` if the connection is lost before.
   *  Rejects if the leader could not commit the batch. */
  exchange(frame: Buffer, number: number): Promise<Answer | undefined> {
    return new Promise((resolve, reject) => {
      const { clock } = this.#options;
      const cancelTimeout = clock.after(answerMillisecondsMax, () => this.#connection.destroy());
      this.#exchange = { number, resolve, reject, cancelTimeout };
      this.#connection.send(frame);
    });
  }

  end(): void {
    this.#connection.end();
  }

  #receive(message: LeaderMessage): void {
    if (message.kind === "notice") {
      this.#options.onNotice(message);
      return;
    }
    if (message.number !== this.#exchange?.number) return;
    const { resolve, reject } = this.#exchange;
    this.#endExchange();
    if (message.kind === "answer") resolve(message);
    else reject(message.error);
  }

  #endExchange(): Exchange | undefined {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.cancelTimeout();
    return exchange;
  }
}
