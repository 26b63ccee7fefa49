import { describe, expect, it } from "vitest";
import { parseStatusOptions } from "./status-command.ts";

const tokens = { token: undefined, tokenFile: undefined };
const none = { url: undefined, location: undefined, ...tokens, json: false, watch: false };

describe("etagere status", () => {
  it("accepts values as separate words and attached", () => {
    expect(parseStatusOptions([])).toEqual(none);
    const given = parseStatusOptions(["--url=http://host:1", "--token", "secret", "--json"]);
    expect(given).toEqual({ ...none, url: "http://host:1", token: "secret", json: true });
    const place = parseStatusOptions(["-l", "folder", "--watch"]);
    expect(place).toEqual({ ...none, location: "folder", watch: true });
  });

  it.each([
    [["--nonsense"], "Unknown option '--nonsense'"],
    [["--locatoin", "x"], "Unknown option '--locatoin'; did you mean --location?"],
    [["--nonsense", "value"], "Unknown option '--nonsense'"],
    [["--url"], "Option '--url <value>' argument missing"],
    [["--url", ""], "--url needs a value"],
    [["--url", "host:1"], "--url must begin with http:// or https://"],
    [["--json=yes"], "Option '--json' does not take an argument"],
    [["word"], "only options are accepted, not other words"],
  ])("rejects %j with one sentence", (words, problem) => {
    expect(parseStatusOptions(words)).toMatchObject({ problem });
  });
});
