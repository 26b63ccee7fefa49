import { expect, it } from "vitest";
import { withoutSecrets } from "./secrets.ts";

it.each([
  ["/a/b?sv=1&sig=secret&se=2", "/a/b?sv=1&sig=***&se=2"],
  ["/a/b?sig=secret", "/a/b?sig=***"],
  ["/a?url=http%3A%2F%2Fb%3Fsig%3Dsecret&c=d", "/a?url=http%3A%2F%2Fb%3Fsig%3D***&c=d"],
  ["/a?url=http%3A%2F%2Fb%3Fsv%3D1%26sig%3Dsecret", "/a?url=http%3A%2F%2Fb%3Fsv%3D1%26sig%3D***"],
  [
    "x-ms-copy-source:http://b?sig=secret\nx-ms-date:1",
    "x-ms-copy-source:http://b?sig=***\nx-ms-date:1",
  ],
  ["comp:list\nsig:secret", "comp:list\nsig:***"],
  ["x-ms-encryption-key:secret\nx-ms-version:1", "x-ms-encryption-key:***\nx-ms-version:1"],
  ["/a/design=1", "/a/design=1"],
])("%s is logged as %s", (text, expected) => {
  expect(withoutSecrets(text)).toBe(expected);
});
