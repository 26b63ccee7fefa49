import { checkMoves, firstPlace, type MoveInput, type MoveOutput } from "../moves.ts";
import type { Sent } from "../wire.ts";
import { insist, type Sender, type Setting, type Workload } from "../workload.ts";

const name = "move";
const share = "/verify-moves";
const boxes = 10;
const places = [firstPlace, "b", "c"];

/** Directories that are moved between parents, and readers of the file inside. */
export const move: Workload = {
  name,
  service: "file",
  check: checkMoves,
  async setUp({ wire }) {
    await insist(() => wire.send(put(`${share}?restype=share`)), 201, 409);
    for (const place of places) await newDirectory(wire, `${share}/${place}`);
    for (let index = 0; index < boxes; index += 1) {
      const box = `${share}/${firstPlace}/box${index}`;
      await newDirectory(wire, box);
      const headers = { "x-ms-type": "file", "x-ms-content-length": "7" };
      await insist(() => wire.send({ ...put(`${box}/inside`), headers }), 201);
    }
  },
  client(setting) {
    return async () => {
      const key = `box${setting.random.below(boxes)}`;
      const at = setting.random.pick(places);
      const to = setting.random.pick(places.filter((place) => place !== at));
      const isMove = setting.random.chance(0.5);
      await perform(
        setting,
        key,
        isMove ? { action: "move", from: at, to } : { action: "look", at },
      );
    };
  },
  async finish(setting, keys) {
    for (const key of keys) {
      for (const at of places) await perform(setting, key, { action: "look", at });
    }
  },
};

function put(path: string): Sent {
  return { service: "file", method: "PUT", path };
}

function newDirectory(wire: Sender, path: string): Promise<void> {
  return insist(() => wire.send(put(`${path}?restype=directory`)), 201, 409);
}

function perform(setting: Setting, key: string, input: MoveInput) {
  const run = async (): Promise<MoveOutput> => {
    const { status } = await setting.wire.send(requestOf(key, input));
    return { status };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(key: string, input: MoveInput): Sent {
  if (input.action === "look") {
    return { service: "file", method: "GET", path: `${share}/${input.at}/${key}/inside` };
  }
  const path = `${share}/${input.to}/${key}?restype=directory&comp=rename`;
  return { ...put(path), renameSource: `${share}/${input.from}/${key}` };
}
