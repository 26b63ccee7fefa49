import { realClock } from "../host/world.ts";
import { describe, expect, it, vi } from "vitest";
import { connectionTrafficBytesMax, smallTrafficBytesMax } from "./limits.ts";
import { RequestQueue } from "./connection.ts";
import { ConnectionTraffic, ServerTraffic } from "./traffic.ts";

const large = 8 * 1024 * 1024;

describe("the traffic of a connection", () => {
  it("is limited; a released request lets the next one start", () => {
    const wake = vi.fn();
    const traffic = new ConnectionTraffic(new ServerTraffic(1e12), wake);
    let started = 0;
    for (; traffic.hasRoomFor(large) && started < 100; started += 1) traffic.add(large);
    expect(started).toBe(connectionTrafficBytesMax / large);
    expect(wake).not.toHaveBeenCalled();
    traffic.release(large);
    expect(wake).toHaveBeenCalledOnce();
    expect(traffic.hasRoomFor(large)).toBe(true);
  });

  it("may start one request of any size", () => {
    const traffic = new ConnectionTraffic(new ServerTraffic(1e12), () => {});
    expect(traffic.hasRoomFor(2 * connectionTrafficBytesMax)).toBe(true);
  });
});

describe("the traffic of all connections", () => {
  it("is limited; small requests of connections without traffic still start", () => {
    const server = new ServerTraffic(2 * large);
    const [first, wake] = [new ConnectionTraffic(server, () => {}), vi.fn()];
    first.add(2 * large);
    const second = new ConnectionTraffic(server, wake);
    expect(second.hasRoomFor(smallTrafficBytesMax)).toBe(true);
    expect(second.hasRoomFor(large)).toBe(false);
    second.add(smallTrafficBytesMax);
    expect(second.hasRoomFor(1)).toBe(false);
    second.release(smallTrafficBytesMax);
    wake.mockClear();
    expect(second.hasRoomFor(large)).toBe(false);
    first.release(large);
    expect(wake).toHaveBeenCalledOnce();
    expect(second.hasRoomFor(large)).toBe(true);
  });

  it("no longer contains that of a closed connection, and does not wake it", () => {
    const server = new ServerTraffic(large);
    const [first, wake] = [new ConnectionTraffic(server, () => {}), vi.fn()];
    first.add(large);
    const second = new ConnectionTraffic(server, wake);
    expect(second.hasRoomFor(large)).toBe(false);
    second.close();
    first.close();
    first.release(large);
    expect([server.isFull, wake.mock.calls.length]).toEqual([false, 0]);
  });
});

it("a queue starts a request when there is room for it", async () => {
  const server = new ServerTraffic(1e12);
  const queue: RequestQueue = new RequestQueue(realClock(), (bytes) => traffic.hasRoomFor(bytes));
  const traffic: ConnectionTraffic = new ConnectionTraffic(server, () => queue.wake());
  const finish: (() => void)[] = [];
  const discard = vi.fn();
  const job = () => ({
    isParallel: true,
    bytes: connectionTrafficBytesMax,
    run: () => {
      traffic.add(connectionTrafficBytesMax);
      return new Promise<void>((resolve) => finish.push(resolve));
    },
    discard,
  });
  queue.add(job());
  queue.add(job());
  expect([finish.length, queue.length]).toEqual([1, 1]);
  traffic.release(connectionTrafficBytesMax);
  expect([finish.length, queue.length]).toEqual([2, 0]);
  queue.add(job());
  queue.close();
  expect([discard.mock.calls.length, queue.length]).toEqual([1, 0]);
  for (const end of finish) end();
});
