import { expect, it } from "vitest";
import { FeedRelay } from "./supervisor.ts";
import type { EventsMessage, ObserveMessage, ToWorker } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

function fakeWorker(slot: number) {
  const sent: ToWorker[] = [];
  const state = { isSlow: false };
  const worker = {
    slot,
    send: (message: ToWorker) => void sent.push(message),
    relay: (message: ToWorker) => {
      if (!state.isSlow) sent.push(message);
      return !state.isSlow;
    },
  } as unknown as WorkerProcess;
  return { worker, sent, state };
}

const observed: ObserveMessage = { kind: "observe", isOn: true, reads: ["an object"] };
const notObserved: ObserveMessage = { kind: "observe", isOn: false, reads: [] };
const event = {} as EventsMessage["events"][number];
const message = (count: number, missed = 0): EventsMessage => ({
  kind: "events",
  events: Array.from({ length: count }, () => event),
  missed,
});

it("tells a slow main worker how many events it has missed", () => {
  const main = fakeWorker(0);
  const relay = new FeedRelay();
  relay.observe(observed, []);
  main.state.isSlow = true;
  relay.relay(message(3, 2), main.worker);
  relay.relay(message(4), main.worker);
  main.state.isSlow = false;
  relay.relay(message(1), main.worker);
  relay.relay(message(1), main.worker);
  expect(main.sent).toEqual([message(1, 9), message(1, 0)]);
});

it("observes new workers while the main worker has subscribers, and none for a new one", () => {
  const [main, other, late] = [fakeWorker(0), fakeWorker(1), fakeWorker(1)];
  const relay = new FeedRelay();
  relay.observe(observed, [other.worker]);
  relay.join(late.worker, [late.worker]);
  relay.join(main.worker, [late.worker]);
  relay.relay(message(1), main.worker);
  expect(other.sent).toEqual([observed]);
  expect(late.sent).toEqual([observed, notObserved]);
  expect(main.sent).toEqual([]);
});
