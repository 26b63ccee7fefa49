const cookieName = "etagere-session";

export function sessionCookie(value: string, secure: boolean): string {
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}

export function expiredCookie(secure: boolean): string {
  return `${sessionCookie("", secure)}; Max-Age=0`;
}

export function sessionCookieOf(header: string | undefined): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === cookieName) return value;
  }
  return undefined;
}
