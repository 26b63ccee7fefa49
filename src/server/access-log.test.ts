import { describe, expect, it } from "vitest";
import { linesOf, openAccessLog } from "./access-log.ts";
import { simWorld } from "../../tests/harness/sim-world.ts";

const entry = {
  remoteAddress: "127.0.0.1",
  method: "PUT",
  url: "/devstoreaccount1/box",
  httpVersion: "1.1",
  status: 201,
  contentLength: undefined,
};
const { clock } = simWorld(1);

function logTo(accepts: () => boolean) {
  const written: string[] = [];
  const log = openAccessLog(clock, {
    write(text) {
      if (accepts()) written.push(text);
      return accepts();
    },
    end: () => Promise.resolve(),
  });
  return { log, written };
}

const iteration = () => new Promise((resolve) => setImmediate(resolve));

describe("the access log", () => {
  it("has Azurite's form", async () => {
    const { log, written } = logTo(() => true);
    log.write(entry);
    log.write({ ...entry, method: "GET", status: 200, contentLength: "12" });
    await log.close();
    const form = String.raw`^127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] `;
    const [put, get, end] = written.join("").split("\n");
    expect(put).toMatch(new RegExp(`${form}"PUT /devstoreaccount1/box HTTP/1.1" 201 -$`));
    expect(get).toMatch(new RegExp(`${form}"GET /devstoreaccount1/box HTTP/1.1" 200 12$`));
    expect(end).toBe("");
  });

  it("writes once for all requests of an event-loop iteration", async () => {
    const { log, written } = logTo(() => true);
    for (let count = 0; count < 100; count += 1) log.write(entry);
    expect(written).toHaveLength(0);
    await iteration();
    expect(written).toHaveLength(1);
    expect(written[0]?.split("\n")).toHaveLength(101);
  });

  it("masks signatures, and escapes quotes and control characters", async () => {
    const { log, written } = logTo(() => true);
    log.write({ ...entry, url: '/a?sv=1&sig=secret%3D&se=2"\u009b' });
    log.write({ ...entry, url: "/a?SIG=secret" });
    log.write({ ...entry, url: "/a?comp=copy&source=http%3A%2F%2Fb%3Fsv%3D1%26sig%3Dsecret%253D" });
    await log.close();
    expect(written.join("")).toContain("/a?sv=1&sig=***&se=2%22%9B HTTP");
    expect(written.join("")).not.toContain("secret");
  });

  it("counts the lines that a slow console drops", async () => {
    let isFull = true;
    const { log, written } = logTo(() => !isFull);
    for (let round = 0; round < 3; round += 1) {
      log.write(entry);
      log.write(entry);
      await iteration();
    }
    expect(written).toEqual([]);
    isFull = false;
    log.write(entry);
    await iteration();
    log.write(entry);
    await log.close();
    expect(written).toHaveLength(2);
    expect(written[0]).toMatch(/^Etagere access log: 6 lines dropped, the console is slower/);
    expect(written[1]).not.toContain("dropped");
  });
});

it("divides lines into pieces that a pipe takes as a whole", () => {
  const lines = Array.from({ length: 200 }, (_, index) => `${"x".repeat(index)}\n`);
  const long = `${"y".repeat(5000)}\n`;
  const pieces = linesOf([...lines, long, "z\n"].join(""));
  expect(pieces.join("")).toBe([...lines, long, "z\n"].join(""));
  expect(pieces.every((piece) => piece.endsWith("\n"))).toBe(true);
  expect(pieces.filter((piece) => piece.length > 4096)).toEqual([long]);
  expect(pieces.length).toBeLessThan(12);
});
