const key = "etagere-account";

/** The account that was shown last in this browser; null before the first one. */
export function lastAccount(): string | null {
  return localStorage.getItem(key);
}

export function keepLastAccount(name: string): void {
  localStorage.setItem(key, name);
}
