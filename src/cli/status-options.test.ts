import { describe, expect, it } from "vitest";
import { parseStatusOptions } from "./status-options.ts";

const none = { url: undefined, location: undefined, token: undefined, json: false, watch: false };

describe("etagere status", () => {
  it("takes values apart or attached", () => {
    expect(parseStatusOptions([])).toEqual(none);
    const given = parseStatusOptions(["--url=http://host:1", "--token", "secret", "--json"]);
    expect(given).toEqual({ ...none, url: "http://host:1", token: "secret", json: true });
    const place = parseStatusOptions(["-l", "folder", "--watch"]);
    expect(place).toEqual({ ...none, location: "folder", watch: true });
  });

  it.each([
    [["--nonsense"]],
    [["--nonsense", "value"]],
    [["--url"]],
    [["--url", "host:1"]],
    [["--json=yes"]],
    [["word"]],
  ])("refuses %j", (words) => {
    expect(parseStatusOptions(words)).toBeUndefined();
  });
});
