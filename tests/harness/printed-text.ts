import { afterEach, beforeEach, vi } from "vitest";

/** Catches what a command that runs in this process prints, during each test of the file. */
export function printedText(): { text: string } {
  const printed = { text: "" };
  beforeEach(() => {
    printed.text = "";
    const write = (text: unknown): boolean => {
      printed.text += String(text);
      return true;
    };
    vi.spyOn(process.stdout, "write").mockImplementation(write);
    vi.spyOn(process.stderr, "write").mockImplementation(write);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  return printed;
}
