import { describe, expect, test } from "vitest";
import { requestOf, type WireRequest } from "../../../tests/auth/request-of.ts";
import {
  asciiOrder,
  serviceOrder,
  sharedKeyText,
  stringToSignVariants,
  type SharedKeyScheme,
} from "./shared-key.ts";

function text(wire: WireRequest, scheme: SharedKeyScheme = "SharedKey"): string {
  return sharedKeyText(requestOf(wire), wire.service ?? "blob", scheme, stringToSignVariants[0]!);
}

const dated = ["x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT", "x-ms-version", "2015-02-21"];

describe("the documented examples", () => {
  test("Get Container Metadata", () => {
    const url = "/mycontainer?restype=container&comp=metadata&timeout=20";
    expect(text({ account: "myaccount", url, rawHeaders: dated })).toBe(
      `GET${"\n".repeat(12)}x-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n` +
        "/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20",
    );
  });

  test("List Blobs, whose values are sorted and joined", () => {
    const url =
      "/mycontainer?restype=container&comp=list&include=snapshots&include=metadata" +
      "&include=uncommittedblobs";
    expect(text({ account: "myaccount", url, rawHeaders: dated })).toContain(
      "/myaccount/mycontainer\ncomp:list\ninclude:metadata,snapshots,uncommittedblobs\n",
    );
  });

  test("Put Blob with a lite signature", () => {
    const rawHeaders = [
      "Content-Type",
      "text/plain; charset=UTF-8",
      "x-ms-meta-m2",
      "v2",
      "x-ms-date",
      "Sun, 20 Sep 2009 20:36:40 GMT",
      "x-ms-meta-m1",
      "v1",
    ];
    const wire = { account: "testaccount1", method: "PUT", url: "/mycontainer/hello.txt" };
    expect(text({ ...wire, rawHeaders }, "SharedKeyLite")).toBe(
      "PUT\n\ntext/plain; charset=UTF-8\n\nx-ms-date:Sun, 20 Sep 2009 20:36:40 GMT\n" +
        "x-ms-meta-m1:v1\nx-ms-meta-m2:v2\n/testaccount1/mycontainer/hello.txt",
    );
  });

  test("a table's service properties, with the date in its own line", () => {
    const wire = { service: "table", account: "testaccount1" } as const;
    const url = "/?restype=service&comp=properties";
    const date = "Sun, 11 Oct 2009 19:52:39 GMT";
    const rawHeaders = ["x-ms-date", date];
    expect(text({ ...wire, url, rawHeaders })).toBe(
      `GET\n\n\n${date}\n/testaccount1/?comp=properties`,
    );
    expect(text({ ...wire, url, rawHeaders }, "SharedKeyLite")).toBe(
      `${date}\n/testaccount1/?comp=properties`,
    );
  });

  test("a path-style URL names the account twice", () => {
    const wire = { url: "/devstoreaccount1/mycontainer", pathStyle: true };
    expect(text(wire)).toMatch(/\n\/devstoreaccount1\/devstoreaccount1\/mycontainer$/);
  });
});

describe("what depends on the version", () => {
  const put = (version: string) =>
    text({
      method: "PUT",
      url: "/c",
      rawHeaders: ["Content-Length", "0", "x-ms-version", version, "x-ms-empty", ""],
    });

  test("a length of zero is signed up to 2014-02-14", () => {
    expect(put("2014-02-14").split("\n")[3]).toBe("0");
    expect(put("2015-02-21").split("\n")[3]).toBe("");
  });

  test("an empty header is signed from 2016-05-31 on", () => {
    expect(put("2015-12-11")).not.toContain("x-ms-empty");
    expect(put("2016-05-31")).toContain("\nx-ms-empty:\n");
  });
});

describe("the order of header names", () => {
  test.each([
    ["x-ms-meta-ab", "x-ms-meta-a-c"],
    ["x-ms-meta-ab", "x-ms-meta-a-b"],
    ["x-ms-meta-ab-c", "x-ms-meta-a-bc"],
    ["x-ms-meta-a_b", "x-ms-meta-a1"],
    ["x-ms-meta-a1", "x-ms-meta-aa"],
    ["x-ms-meta-a", "x-ms-meta-a-"],
    ["x-ms-date", "x-ms-version"],
  ])("%s comes before %s", (first, second) => {
    expect(serviceOrder(first, second)).toBeLessThan(0);
    expect(serviceOrder(second, first)).toBeGreaterThan(0);
    expect(serviceOrder(first, first)).toBe(0);
  });

  test("plain ASCII puts the hyphen first", () => {
    expect(asciiOrder("x-ms-meta-ab", "x-ms-meta-a-c")).toBeGreaterThan(0);
  });
});
