import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readAwsSettings } from "./storage-backends.ts";

const folder = mkdtempSync(join(tmpdir(), "etagere-aws-"));
const secretsFile = join(folder, "credentials");
const configFile = join(folder, "config");

writeFileSync(
  secretsFile,
  `# a comment
[default]
aws_access_key_id = one
aws_secret_access_key=secret/one+

[other]
aws_access_key_id = two
aws_secret_access_key = second
aws_session_token = token
`,
);
writeFileSync(
  configFile,
  `[default]
region = eu-central-1
[profile other]
region = us-west-2
endpoint_url = https://ceph.example
[profile third]
aws_access_key_id = three
aws_secret_access_key = third
`,
);
afterAll(() => rmSync(folder, { recursive: true }));

const settings = (variables: Readonly<Record<string, string>>) => {
  const files = { AWS_SHARED_CREDENTIALS_FILE: secretsFile, AWS_CONFIG_FILE: configFile };
  const all: Readonly<Record<string, string>> = { ...files, ...variables };
  return readAwsSettings((name) => all[name]);
};

describe("bucket settings", () => {
  it("prefer environment variables", async () => {
    const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
    const { credentials, region, endpoint } = await settings({
      ...keys,
      AWS_REGION: "here",
      AWS_ENDPOINT_URL: "http://there",
    });
    expect(credentials).toEqual({ accessKeyId: "id", secretAccessKey: "secret" });
    expect([region, endpoint]).toEqual(["here", "http://there"]);
  });

  it("fall back to the profile's section of the credential files", async () => {
    expect(await settings({})).toMatchObject({
      credentials: { accessKeyId: "one", secretAccessKey: "secret/one+" },
      region: "eu-central-1",
    });
    expect(await settings({ AWS_PROFILE: "other" })).toMatchObject({
      credentials: { accessKeyId: "two", sessionToken: "token" },
      region: "us-west-2",
      endpoint: "https://ceph.example",
    });
    const { credentials } = await settings({ AWS_PROFILE: "third" });
    expect(credentials.accessKeyId).toBe("three");
  });

  it("fail with the names of the missing variables", async () => {
    await expect(settings({ AWS_PROFILE: "missing" })).rejects.toThrow("AWS_ACCESS_KEY_ID");
  });
});
