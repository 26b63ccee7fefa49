/** A token as `--oauth basic` accepts it: without a signature. */
export function unsignedToken(objectId: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    aud: "https://storage.azure.com",
    iss: "https://sts.windows.net/t/",
    oid: objectId,
    tid: "t",
    exp: 4_000_000_000,
  };
  return `${part({ alg: "none" })}.${part(claims)}.`;
}
