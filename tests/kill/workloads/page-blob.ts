import { must, textOf, type KillWorkload } from "../kill-workload.ts";

const container = "/kills-page";
const pageBytes = 512;
const pages = 64;
const length = String(pages * pageBytes);

/** A page blob whose pages are written or cleared together; a state is its version, or empty. */
export const pageBlob: KillWorkload = {
  name: "page blob",
  async setUp({ blob }) {
    await must(blob, { method: "PUT", path: `${container}?restype=container` }, 201);
  },
  next(key, state, turn) {
    const path = `${container}/${key}`;
    if (state === undefined) {
      const headers = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": length };
      return {
        state: "",
        writes: 1,
        async send({ blob }) {
          await must(blob, { method: "PUT", path, headers }, 201);
        },
      };
    }
    const isClear = turn % 7 === 0;
    const headers = {
      "x-ms-page-write": isClear ? "clear" : "update",
      "x-ms-range": `bytes=0-${Number(length) - 1}`,
    };
    const body = isClear ? "" : bodyOf(key, String(turn));
    return {
      state: isClear ? "" : String(turn),
      writes: 1,
      async send({ blob }) {
        await must(blob, { method: "PUT", path: `${path}?comp=page`, headers, body }, 201);
      },
    };
  },
  async look({ blob }, key) {
    const { status, body } = await blob.send({ method: "GET", path: `${container}/${key}` });
    const text = body.toString();
    return (state) =>
      state === undefined ? status === 404 : status === 200 && text === bodyOf(key, state);
  },
};

function bodyOf(key: string, version: string): string {
  return version === "" ? "\0".repeat(Number(length)) : textOf(key, version, Number(length));
}
