const cookieName = "etagere-session";

/** The Set-Cookie header of a login. `secure`: whether the page was loaded over HTTPS. */
export function sessionCookie(value: string, secure: boolean): string {
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}

/** The Set-Cookie header that removes the cookie at logout. */
export function expiredCookie(secure: boolean): string {
  return `${sessionCookie("", secure)}; Max-Age=0`;
}

/** The value of the session cookie in a Cookie header; undefined if there is none. */
export function sessionCookieOf(header: string | undefined): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === cookieName) return value;
  }
  return undefined;
}
