import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import {
  Connections,
  isSurplus,
  progressBytesMin,
  progressMilliseconds,
  setReading,
} from "./connections.ts";

class FakeSocket extends EventEmitter {
  isDestroyed = false;

  destroy(): void {
    this.isDestroyed = true;
    this.emit("close");
  }
}

const newSocket = () => new FakeSocket() as unknown as Socket & FakeSocket;

function world(connectionsMax = 100) {
  const clock = manualClock();
  return { clock, connections: new Connections({ clock, connectionsMax }) };
}

interface Body {
  isWaiting: boolean;
  bytes: number;
  ended: number;
  end(): void;
}

function bodyOn(connections: Connections): Body {
  const socket = newSocket();
  connections.add(socket);
  const body: Body = {
    isWaiting: true,
    bytes: 0,
    ended: 0,
    end() {
      body.ended += 1;
      setReading(socket, undefined);
    },
  };
  setReading(socket, body);
  return body;
}

describe("connections", () => {
  it("get 503 beyond the maximum, are closed far beyond it, and count until they close", () => {
    const { connections } = world(100);
    const sockets = Array.from({ length: 200 }, () => {
      const socket = newSocket();
      connections.add(socket);
      return socket;
    });
    expect(sockets.filter((one) => isSurplus(one)).length).toBe(100);
    expect(sockets.filter((one) => one.isDestroyed).length).toBe(36);
    expect(connections.count).toBe(164);
    for (const socket of sockets) socket.destroy();
    expect(connections.count).toBe(0);
    const next = newSocket();
    expect(connections.add(next)).toBe(true);
    expect(isSurplus(next)).toBe(false);
  });
});

it("beyond the maximum get 503 after a TLS handshake, too", () => {
  const { clock, connections } = world(1);
  const first = newSocket();
  connections.add(newSocket());
  connections.addSecure(first);
  const second = newSocket();
  connections.add(newSocket());
  connections.addSecure(second);
  expect([isSurplus(first), isSurplus(second), connections.count]).toEqual([false, true, 2]);
  const body = { isWaiting: true, bytes: 0, ended: 0, end: () => void (body.ended += 1) };
  setReading(first, body);
  clock.advance(progressMilliseconds);
  clock.advance(progressMilliseconds);
  expect(body.ended).toBe(1);
});

describe("bodies", () => {
  it("are ended if they bring too few bytes in a period", () => {
    const { clock, connections } = world();
    const silent = bodyOn(connections);
    const slow = bodyOn(connections);
    const steady = bodyOn(connections);
    for (let period = 0; period < 3; period += 1) {
      slow.bytes += progressBytesMin - 1;
      steady.bytes += progressBytesMin;
      clock.advance(progressMilliseconds);
    }
    expect([silent.ended, slow.ended, steady.ended]).toEqual([1, 1, 0]);
  });

  it("get a full period, whenever they start", () => {
    const { clock, connections } = world();
    connections.add(newSocket());
    clock.advance(progressMilliseconds - 1);
    const late = bodyOn(connections);
    clock.advance(progressMilliseconds);
    expect(late.ended).toBe(0);
    clock.advance(1);
    expect(late.ended).toBe(1);
  });

  it("are not ended while they wait for the server", () => {
    const { clock, connections } = world();
    const body = bodyOn(connections);
    for (let period = 0; period < 5; period += 1) {
      body.isWaiting = period % 2 === 0;
      clock.advance(progressMilliseconds);
    }
    expect(body.ended).toBe(0);
  });
});
