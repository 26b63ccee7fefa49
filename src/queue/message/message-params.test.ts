import { describe, expect, it } from "vitest";
import { parseQueueParam } from "../../../tests/harness/queue-params.ts";
import {
  lifetime,
  messageCount,
  popReceipt,
  getVisibilityTimeout,
  updateVisibilityTimeout,
} from "./messages.ts";

const week = 604_800;

describe("lifetime of a new message", () => {
  it.each([
    ["", { visibilitySeconds: 0, timeToLiveSeconds: week }],
    ["messagettl=-1", { visibilitySeconds: 0, timeToLiveSeconds: -1 }],
    ["messagettl=-1&visibilitytimeout=604800", { visibilitySeconds: week, timeToLiveSeconds: -1 }],
    ["messagettl=2147483647", { visibilitySeconds: 0, timeToLiveSeconds: 2_147_483_647 }],
    ["messagettl=11&visibilitytimeout=10", { visibilitySeconds: 10, timeToLiveSeconds: 11 }],
  ])("%s is taken", (query, value) => {
    expect(parseQueueParam(lifetime, query)).toEqual({ ok: true, value });
  });
  it.each([
    ["messagettl=0", "OutOfRangeQueryParameterValue"],
    ["messagettl=-2", "OutOfRangeQueryParameterValue"],
    ["messagettl=2147483648", "InvalidQueryParameterValue"],
    ["messagettl=soon", "InvalidQueryParameterValue"],
    ["visibilitytimeout=604801", "OutOfRangeQueryParameterValue"],
    ["visibilitytimeout=-1", "OutOfRangeQueryParameterValue"],
    // The default of seven days has to be longer, too.
    ["visibilitytimeout=604800", "InvalidQueryParameterValue"],
    ["messagettl=7&visibilitytimeout=10", "InvalidQueryParameterValue"],
    ["messagettl=10&visibilitytimeout=10", "InvalidQueryParameterValue"],
  ])("%s is refused", (query, code) => {
    expect(parseQueueParam(lifetime, query)).toMatchObject({ ok: false, fault: { code } });
  });
  it("is limited to 7 days before version 2017-07-29", () => {
    const old = "2016-05-31";
    expect(parseQueueParam(lifetime, "messagettl=604800", old).ok).toBe(true);
    expect(parseQueueParam(lifetime, "messagettl=604801", old).ok).toBe(false);
    expect(parseQueueParam(lifetime, "messagettl=-1", old).ok).toBe(false);
  });
});

describe("other parameters", () => {
  it.each([
    [messageCount, "numofmessages=1", true],
    [messageCount, "numofmessages=32", true],
    [messageCount, "numofmessages=0", false],
    [messageCount, "numofmessages=33", false],
    [getVisibilityTimeout, "visibilitytimeout=1", true],
    [getVisibilityTimeout, "visibilitytimeout=0", false],
    [getVisibilityTimeout, "visibilitytimeout=604800", true],
    [updateVisibilityTimeout, "visibilitytimeout=0", true],
    [updateVisibilityTimeout, "visibilitytimeout=604801", false],
  ])("%o of %s", (param, query, isTaken) => {
    expect(parseQueueParam(param, query).ok).toBe(isTaken);
  });
  it("Update Message requires a pop receipt and a visibility timeout", () => {
    const missing = { ok: false, fault: { code: "MissingRequiredQueryParameter" } };
    expect(parseQueueParam(updateVisibilityTimeout, "")).toMatchObject(missing);
    expect(parseQueueParam(popReceipt, "")).toMatchObject(missing);
  });
  it("Get Messages hides for at most 2 hours before version 2011-08-18", () => {
    expect(parseQueueParam(getVisibilityTimeout, "visibilitytimeout=7201", "2009-09-19").ok).toBe(
      false,
    );
  });
});
