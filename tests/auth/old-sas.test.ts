import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ServiceName } from "../../src/protocol/names.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { account, accountKey, allowed, requestOf } from "./request-of.ts";

const authenticator = new Authenticator();

describe("tokens of versions that the client libraries no longer create", () => {
  const se = "2026-01-02T13:00Z";
  const sign = (text: string) =>
    createHmac("sha256", Buffer.from(accountKey, "base64")).update(text).digest("base64");
  const at = (service: ServiceName, path: string, fields: Record<string, string>, text: string) => {
    const query = Object.entries({ ...fields, sig: sign(text) });
    const url = `${path}?${query.map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join("&")}`;
    const result = authenticator.authenticate(requestOf({ service, url }), [accountKey], allowed);
    return result.ok ? result.value.kind : result.fault.code;
  };

  test.each<[string, ServiceName, string, Record<string, string>, string]>([
    ["before sv", "blob", "/c/b", { sp: "r", se, sr: "b" }, `r\n\n${se}\n/${account}/c/b\n`],
    [
      "2012-02-12",
      "blob",
      "/c/b",
      { sv: "2012-02-12", sp: "r", se, sr: "c" },
      `r\n\n${se}\n/${account}/c\n\n2012-02-12`,
    ],
    [
      "2013-08-15",
      "blob",
      "/c/b",
      { sv: "2013-08-15", sp: "r", se, sr: "c", rscc: "no-cache" },
      `r\n\n${se}\n/${account}/c\n\n2013-08-15\nno-cache\n\n\n\n`,
    ],
    [
      "2015-02-21",
      "file",
      "/s/f",
      { sv: "2015-02-21", sp: "r", se, sr: "f" },
      `r\n\n${se}\n/file/${account}/s/f\n\n2015-02-21\n\n\n\n\n`,
    ],
    [
      "2014-02-14 queue",
      "queue",
      "/q/messages",
      { sv: "2014-02-14", sp: "p", se },
      `p\n\n${se}\n/${account}/q\n\n2014-02-14`,
    ],
    [
      "2013-08-15 table",
      "table",
      "/People()",
      { sv: "2013-08-15", sp: "r", se, tn: "People", spk: "a", epk: "b" },
      `r\n\n${se}\n/${account}/people\n\n2013-08-15\na\n\nb\n`,
    ],
    [
      "a directory",
      "blob",
      "/c/d/e/f",
      { sv: "2020-02-10", sp: "r", se, sr: "d", sdd: "2" },
      `r\n\n${se}\n/blob/${account}/c/d/e\n\n\n\n2020-02-10\nd\n\n\n\n\n\n`,
    ],
  ])("%s", (_, service, path, fields, text) => {
    expect(at(service, path, fields, text)).toBe("service-sas");
    expect(at(service, path, fields, `${text}x`)).toBe("AuthenticationFailed");
    expect(at(service, path, { ...fields, se: "2026-01-02T14:00Z" }, text)).toBe(
      "AuthenticationFailed",
    );
  });

  test.each([
    [{}, "QueryParameterSasMandatory"],
    [{ sdd: "x" }, "QueryParameterSddInvalid"],
    [{ sdd: "3" }, "AuthenticationFailed"],
    [{ sdd: "1", sv: "2019-12-12" }, "DirectorySasNotSupportedVersion"],
  ])("a directory token with %o", (fields, expected) => {
    const all = { sv: "2020-02-10", sp: "r", se, sr: "d", ...fields };
    expect(at("blob", "/c/d/f", all, "")).toBe(expected);
  });
});
