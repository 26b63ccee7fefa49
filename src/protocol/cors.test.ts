import { describe, expect, test } from "vitest";
import { corsHeaders, preflightHeaders, type CorsRule } from "./cors.ts";

const base = { allowedHeaders: [], exposedHeaders: [], maxAgeSeconds: 60 };
const everyone: CorsRule = {
  ...base,
  allowedOrigins: ["*"],
  allowedMethods: ["GET", "PUT"],
  exposedHeaders: ["x-ms-meta-*", "ETag"],
};
const named: CorsRule = {
  ...base,
  allowedOrigins: ["https://a.example"],
  allowedMethods: ["GET", "PUT"],
  allowedHeaders: ["x-ms-meta-*", "Content-Type"],
  exposedHeaders: ["ETag"],
};

describe("actual requests, row by row of the documented table", () => {
  const origin = "https://a.example";
  const star = "Access-Control-Allow-Origin";
  test.each([
    ["no origin, no rules", [], undefined, {}],
    ["no origin, no rule for all", [named], undefined, { Vary: "Origin" }],
    [
      "no origin, a rule for all",
      [everyone],
      undefined,
      { [star]: "*", "Access-Control-Expose-Headers": "x-ms-meta-*,ETag" },
    ],
    ["origin, no rules", [], origin, {}],
    [
      "origin, exact rule",
      [named],
      origin,
      {
        [star]: origin,
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Expose-Headers": "ETag",
        Vary: "Origin",
      },
    ],
    ["origin, no matching rule", [named], "https://b.example", { Vary: "Origin" }],
    [
      "origin, rule for all",
      [everyone],
      "https://b.example",
      { [star]: "*", "Access-Control-Expose-Headers": "x-ms-meta-*,ETag" },
    ],
  ])("GET: %s", (_, rules, from, headers) => {
    expect(corsHeaders(rules, { origin: from, method: "GET" })).toEqual(headers);
  });

  test("writes have no Vary header, and no CORS headers without an origin", () => {
    expect(corsHeaders([named], { origin: "https://b.example", method: "PUT" })).toEqual({});
    expect(corsHeaders([everyone], { origin: undefined, method: "PUT" })).toEqual({});
    expect(corsHeaders([named], { origin, method: "PUT" })).not.toHaveProperty("Vary");
  });
});

describe("preflight", () => {
  const asked = { origin: "https://a.example", method: "PUT", requestHeaders: undefined };
  const code = (rules: readonly CorsRule[], change: object) => {
    const answer = preflightHeaders(rules, { ...asked, ...change });
    return answer.ok ? "ok" : answer.fault.code;
  };

  test("returns the allowed origin, method and headers", () => {
    const requestHeaders = "X-Ms-Meta-Name, content-type";
    expect(preflightHeaders([named], { ...asked, requestHeaders })).toEqual({
      ok: true,
      value: {
        "Access-Control-Allow-Origin": "https://a.example",
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Methods": "PUT",
        "Access-Control-Allow-Headers": requestHeaders,
        "Access-Control-Max-Age": "60",
      },
    });
  });

  test.each([
    ["no origin", { origin: undefined }, "MissingRequiredHeader"],
    ["no method", { method: "" }, "InvalidHeaderValue"],
    ["another method", { method: "DELETE" }, "CorsPreflightFailure"],
    ["another origin", { origin: "https://A.example" }, "CorsPreflightFailure"],
    ["another header", { requestHeaders: "x-ms-date" }, "CorsPreflightFailure"],
    ["a header of the allowed prefix", { requestHeaders: "x-ms-meta-a" }, "ok"],
  ])("%s: %o gets %s", (_, change, expected) => {
    expect(code([named], change)).toBe(expected);
  });

  test("the first matching rule decides; later ones are not tried", () => {
    const wide = { ...named, allowedHeaders: ["*"] };
    expect(code([named, wide], { requestHeaders: "x-ms-date" })).toBe("CorsPreflightFailure");
    expect(code([wide, named], { requestHeaders: "x-ms-date" })).toBe("ok");
    expect(code([], {})).toBe("CorsPreflightFailure");
  });

  test("a wildcard matches subdomains only", () => {
    const rule = { ...named, allowedOrigins: ["https://*.contoso.com"] };
    expect(code([rule], { origin: "https://www.contoso.com" })).toBe("ok");
    expect(code([rule], { origin: "https://contoso.com" })).toBe("CorsPreflightFailure");
    expect(code([rule], { origin: "http://www.contoso.com" })).toBe("CorsPreflightFailure");
    expect(code([rule], { origin: "https://evilcontoso.com" })).toBe("CorsPreflightFailure");
  });
});
