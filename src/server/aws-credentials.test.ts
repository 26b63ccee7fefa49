import { describe, expect, it } from "vitest";
import { parseCredentials, readAwsCredentials } from "./aws-credentials.ts";

const file = `# a comment
[default]
aws_access_key_id = one
aws_secret_access_key=secret/one+

[other]
aws_access_key_id = two
aws_secret_access_key = second
aws_session_token = token
`;

describe("credentials for a bucket", () => {
  it("come from the variables first", async () => {
    const variables = new Map([
      ["AWS_ACCESS_KEY_ID", "id"],
      ["AWS_SECRET_ACCESS_KEY", "secret"],
    ]);
    expect(await readAwsCredentials((name) => variables.get(name))).toEqual({
      accessKeyId: "id",
      secretAccessKey: "secret",
      sessionToken: undefined,
    });
  });

  it("are read from the profile of a file", () => {
    expect(parseCredentials(file, "default")?.secretAccessKey).toBe("secret/one+");
    expect(parseCredentials(file, "other")?.sessionToken).toBe("token");
    expect(parseCredentials(file, "missing")).toBeUndefined();
  });

  it("are asked for by name when there are none", async () => {
    const variables = new Map([["AWS_SHARED_CREDENTIALS_FILE", "/nowhere/at/all"]]);
    const refused = readAwsCredentials((name) => variables.get(name));
    await expect(refused).rejects.toThrow("AWS_ACCESS_KEY_ID");
  });
});
