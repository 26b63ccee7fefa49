import { expect, it } from "vitest";

import { amzDateOf } from "../../src/content/s3/bucket.ts";
import { sha256Hex, signedHeaders } from "../../src/content/s3/signature.ts";
import { parseIso } from "../../src/base/dates.ts";

/** The examples of docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
const credentials = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const context = { credentials, region: "us-east-1", amzDate: "20130524T000000Z" };
const host = "examplebucket.s3.amazonaws.com";
const nothing = sha256Hex("");

const signatureOf = (request: Partial<Parameters<typeof signedHeaders>[0]>): string => {
  const whole = { method: "GET", host, path: "/", query: {}, headers: {}, bodyDigest: nothing };
  const { authorization = "" } = signedHeaders({ ...whole, ...request }, context);
  return authorization.slice(authorization.indexOf("Signature=") + "Signature=".length);
};

it("signs the reading of a range", () => {
  expect(signatureOf({ path: "/test.txt", headers: { range: "bytes=0-9" } })).toBe(
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
});

it("signs a listing", () => {
  expect(signatureOf({ query: { prefix: "J", "max-keys": "2" } })).toBe(
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});

it("signs an upload", () => {
  const headers = {
    date: "Fri, 24 May 2013 00:00:00 GMT",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
  };
  const bodyDigest = sha256Hex("Welcome to Amazon S3.");
  expect(signatureOf({ method: "PUT", path: "/test%24file.text", headers, bodyDigest })).toBe(
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  );
});

it("formats times as the signature requires", () => {
  const ticks = parseIso("2013-05-24T01:02:03.9876543Z") ?? 0n;
  expect(amzDateOf(ticks)).toBe("20130524T010203Z");
});
