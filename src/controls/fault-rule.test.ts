import { describe, expect, it } from "vitest";
import { parseFault, type InjectedFault } from "./fault-injector.ts";

describe("an injected fault", () => {
  it.each([
    [{ status: 503 }, { status: 503, code: "ServerBusy" }],
    [{ status: 500 }, { status: 500, code: "InternalError" }],
    [{ status: 412 }, { status: 412, code: "ConditionNotMet" }],
    [{ status: 418 }, { status: 418, code: "InternalError" }],
    [{ code: "ContainerBeingDeleted" }, { status: 409, code: "ContainerBeingDeleted" }],
    [
      { status: 500, code: "OperationTimedOut" },
      { status: 500, code: "OperationTimedOut" },
    ],
  ])("%j is answered with %j", (fault, response) => {
    expect(parseFault(fault).response).toEqual(response);
  });

  it.each([
    [{}, /needs status, code, latency or connection/],
    [{ operation: "Put Blobs", status: 503 }, /operation: no operation "Put Blobs"; .*Put Blob,/],
    [{ operation: "Foo", status: 503 }, /operation: no operation "Foo"/],
    [{ status: 200 }, /status: must be 400 to 599, not 200/],
    [{ code: "Busy" }, /code: no error code "Busy"/],
    [{ status: 503, count: 0 }, /count: must be 1 to/],
    [{ latency: "soon" }, /latency: must be milliseconds/],
    [{ latency: "2h" }, /latency: must be at most 1h/],
    [{ connection: "drop" }, /connection: must be "dropBeforeCommit"/],
    [{ status: 503, connection: "dropAfterCommit" }, /connection: contradicts status/],
    [{ status: 503, times: 2 }, /times: no such field/],
  ])("%j is rejected with the name of the field", (fault, message) => {
    expect(() => parseFault(fault as InjectedFault)).toThrow(message);
  });
});
