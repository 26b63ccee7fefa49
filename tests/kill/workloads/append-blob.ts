import { must, textOf, type KillWorkload } from "../kill-workload.ts";

const container = "/kills-append";
const recordsMax = 200;
const lengths = [20, 300, 9000];

/**
 * Append blobs that grow record by record and are created again. A state is `generation:records`.
 */
export const appendBlob: KillWorkload = {
  name: "append blob",
  async setUp({ blob }) {
    await must(blob, { method: "PUT", path: `${container}?restype=container` }, 201);
  },
  next(key, state, turn) {
    const path = `${container}/${key}`;
    const [generation = "", count = ""] = state?.split(":") ?? [];
    if (state === undefined || Number(count) >= recordsMax) {
      const headers = { "x-ms-blob-type": "AppendBlob" };
      return {
        state: `${turn}:0`,
        writes: 1,
        async send({ blob }) {
          await must(blob, { method: "PUT", path, headers }, 201);
        },
      };
    }
    const body = recordOf(key, generation, Number(count));
    return {
      state: `${generation}:${Number(count) + 1}`,
      writes: 1,
      async send({ blob }) {
        await must(blob, { method: "PUT", path: `${path}?comp=appendblock`, body }, 201);
      },
    };
  },
  async look({ blob }, key) {
    const { status, body } = await blob.send({ method: "GET", path: `${container}/${key}` });
    const text = body.toString();
    return (state) => {
      if (state === undefined) return status === 404;
      const [generation = "", count = ""] = state.split(":");
      const records = Array.from({ length: Number(count) }, (_, at) =>
        recordOf(key, generation, at),
      );
      return status === 200 && text === records.join("");
    };
  },
};

function recordOf(key: string, generation: string, at: number): string {
  return textOf(key, `${generation}:${at}`, lengths[at % lengths.length]!);
}
